"""Tests for the outputs of agents: references, marks of other languages, and objects."""

import json

import pytest

from holdfast.models.plans.research_plan import EntityType
from holdfast.roles.agents.assessor import ASSESSOR
from holdfast.roles.agents.stepper import STEPPER
from tests.support.endpoints.scripted_model import ReceivedRequest
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

NO_REFERENCE = "'{{T1.1.found}}' is no reference; write <JSON_PATH>T1.1.found</JSON_PATH>"
UNKNOWN = "reference 'T1.1.place' points to nothing"
WRONG = {"{{T1.1.found}}": NO_REFERENCE, result_reference("T1.1", "place"): UNKNOWN}


@pytest.fixture(autouse=True)
def page(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f'[{argument}] and "more"'


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(("wrong", "fault"), WRONG.items(), ids=["foreign mark", "unknown name"])
async def test_a_wrong_reference_in_a_steppers_outputs_is_sent_back(
    engine: RunningEngine, players: ScriptedRoles, wrong: str, fault: str
) -> None:
    players.plan = plan(agent_task("T1", about="Who wrote it?", yields="final_answer"))
    usual = players._stepper

    def stepper(asked: ReceivedRequest) -> object:
        if not asked.task["trace"]:
            return usual(asked)
        value = result_reference("T1.1", "found") if asked.is_correction else wrong
        return {"outputs": [{"name": "final_answer", "value": value}]}

    players.parts["stepper"] = stepper

    job = await engine.run("Who wrote it?", preset_name="vmao", verify=False)

    assert (job.status, job.answer) == ("done", '[Who wrote it?] and "more"')
    (_, _, correction) = players.asked[STEPPER.name]
    assert f"output 'final_answer': {fault}" in correction.turns[-1]["content"]


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize(("wrong", "fault"), WRONG.items(), ids=["foreign mark", "unknown name"])
@pytest.mark.long
async def test_a_wrong_reference_in_an_assessors_outputs_is_sent_back(
    engine: RunningEngine, players: ScriptedRoles, wrong: str, fault: str
) -> None:
    players.plan = plan(agent_task("T1", about="Who wrote it?", yields="final_answer"))

    def assessor(asked: ReceivedRequest) -> object:
        value = result_reference("T1.1", "found") if asked.is_correction else wrong
        outputs = [{"name": "final_answer", "value": value}]
        return {"status": "completed", "outputs": outputs}

    players.parts["assessor"] = assessor

    job = await engine.run("Who wrote it?", preset_name="tdp")

    assert (job.status, job.answer) == ("done", '[Who wrote it?] and "more"')
    (_, correction) = players.asked[ASSESSOR.name]
    assert f"output 'final_answer': {fault}" in correction.turns[-1]["content"]


@pytest.mark.conformance("MOD-10")
async def test_an_object_with_references_survives_quotation_marks_in_what_was_found(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(agent_task("T1", about="Who?", yields="final_answer", kind=EntityType.DICT))
    usual = players._stepper

    def stepper(asked: ReceivedRequest) -> object:
        if not asked.task["trace"]:
            return usual(asked)
        written = json.dumps({"writer": result_reference("T1.1", "found")})
        return {"outputs": [{"name": "final_answer", "value": written, "confidence": 0.9}]}

    players.parts["stepper"] = stepper

    job = await engine.run("Who?", preset_name="vmao", verify=False)

    assert job.status == "done"
    assert json.loads(job.answer or "") == {"writer": '[Who?] and "more"'}
