"""Tests that people control a `research` job in both of its parts: in its loop, and in its plan."""

import json
from datetime import timedelta

import pytest

from holdfast.cli.render.evidence.trace_lines import trace_lines
from holdfast.evidence.evidence_retraction import retract_job_evidence
from holdfast.evidence.report_provenance import provenance_of
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.job_lookup import report_of
from holdfast.models.jobs.job_record import JobStatus
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.roles.planning.planner import CONTINUED_PLANNER
from holdfast.storage.questions import question_rows
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.loop_script import Call, answer, search, sentence
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION = "In which city was the designer of the Teal Bridge born?"
BRIDGE = "The Teal Bridge was designed by Ada Lindqvist."
BIRTH = "Ada Lindqvist was born in Malmo."
LOOK = "Find the birthplace of Ada Lindqvist in the parish records"
WORDS = "Only books before 1920"
DESIGNED = sentence("Ada Lindqvist designed the Teal Bridge.", 1, BRIDGE)
LEFT_OPEN: list[Call] = [answer("", DESIGNED, open=["where Ada Lindqvist was born"])]
WITHIN = timedelta(seconds=60)


@pytest.fixture(autouse=True)
def _course(tools: ScriptedTools, players: ScriptedRoles) -> None:
    """A loop of two turns that leaves a question open, and a plan of one task for it."""
    pages = {QUESTION: BRIDGE, "Teal Bridge": BRIDGE, LOOK: BIRTH}
    tools.answers = lambda query: pages.get(query, "")
    players.plan = plan(agent_task("T1", about=LOOK, yields="birthplace"))
    players.loop.turns = [[search("Teal Bridge")], LEFT_OPEN]


@pytest.fixture
def controller(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "dana")


async def submit_held(engine: RunningEngine, players: ScriptedRoles, **settings: str) -> str:
    """A job whose loop waits for its first reply."""
    players.loop.delay_s = 60
    job_id = await engine.submit(QUESTION, preset_name="research", servers=("lab",), **settings)
    await players.loop.wait_for(1)
    return job_id


def release(players: ScriptedRoles, model: ScriptedModel) -> None:
    players.loop.delay_s = 0
    model.release()


async def test_a_job_paused_in_its_loop_goes_on_to_its_plan(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job_id = await submit_held(engine, players)

    await controller.pause(job_id)
    release(players, model)
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert len(players.loop.asked) == 2, "no turn is asked again"
    assert len(players.tasks(CONTINUED_PLANNER)) == 1


@pytest.mark.long
async def test_words_that_are_given_in_the_loop_reach_its_next_turn_and_the_planner(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, model: ScriptedModel
) -> None:
    job_id = await submit_held(engine, players)

    await controller.steer(job_id, WORDS)
    release(players, model)
    await engine.holdfast.wait(job_id, WITHIN)

    next_turn = players.loop.asked[1].turns[-1]["content"].split("\n")[-1]
    assert json.loads(next_turn)["guidance"] == [WORDS]
    (planned,) = players.tasks(CONTINUED_PLANNER)
    assert list(planned["guidance"]) == [WORDS]


@pytest.mark.long
async def test_a_job_cancelled_in_its_loop_continues_the_same_transcript(
    engine: RunningEngine,
    controller: JobController,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    job_id = await submit_held(engine, players)

    await controller.cancel(job_id)
    cancelled = await engine.holdfast.wait(job_id, WITHIN)
    release(players, model)
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (cancelled.status, job.status) == (JobStatus.CANCELLED, JobStatus.DONE)
    assert [query for _, query in tools.called] == [QUESTION, "Teal Bridge", LOOK]
    turns = [request.turns for request in players.loop.asked]
    assert turns[0] == turns[1], "the reply that was cut off is asked for again, and no other"
    assert len(turns) == 3


async def test_the_answer_to_a_question_of_the_loop_is_in_its_next_turn(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    asks: list[Call] = [("ask", {"question": "Which Teal Bridge?", "default": "any"})]
    players.loop.turns = [asks, LEFT_OPEN]
    job_id = await engine.submit(QUESTION, preset_name="research", servers=("lab",))
    await wait_for_event(engine, job_id, "question.asked")

    (asked,) = await question_rows.questions_of(engine.db, job_id)
    await controller.answer(job_id, asked.id, "", "The one in Malmo.")
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert job.status is JobStatus.DONE
    assert (asked.task_id, asked.text) == ("T0", "Which Teal Bridge?")
    assert "The one in Malmo." in json.dumps(players.loop.asked[1].turns[-1])
    assert len(players.loop.asked) == 2


@pytest.mark.long
async def test_a_cap_reached_in_the_loop_asks_once_and_a_higher_one_pays_nothing_again(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    job_id = await engine.submit(
        QUESTION, preset_name="research", servers=("lab",), max_tokens="1000", report_reserve="0"
    )
    paused = await engine.holdfast.wait(job_id, WITHIN, or_paused=True)
    (asked,) = await question_rows.questions_of(engine.db, job_id)

    await controller.resume(
        job_id, with_settings(preset("research").strategy, {"max_tokens": "1000000"})
    )
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (paused.status, job.status) == (JobStatus.PAUSED, JobStatus.DONE)
    assert asked.kind == "budget"
    assert len(players.loop.asked) == 2
    assert (await engine.holdfast.show(job_id)).stages[0].model_calls >= 2


@pytest.mark.long
async def test_a_task_of_the_plan_is_retried_without_the_loop(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    done = await engine.run(QUESTION, preset_name="research", servers=("lab",))

    scope = await controller.retry(done.job_id, ["T1"])
    await engine.holdfast.wait(done.job_id, WITHIN)
    after = await engine.holdfast.show(done.job_id)

    assert "T0" not in scope.rerun
    attempts = {task.id: task.attempt for task in after.tasks}
    assert (attempts["T0"], attempts["T1"]) == (1, 2)
    assert after.status == "done"
    assert len(players.loop.asked) == 2


async def test_a_loop_that_is_retried_may_answer_what_it_left_to_a_plan(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    done = await engine.run(QUESTION, preset_name="research", servers=("lab",))
    players.loop.turns = [[answer("Ada Lindqvist", DESIGNED)]]

    await controller.retry(done.job_id, ["T0"])
    await engine.holdfast.wait(done.job_id, WITHIN)
    after = await engine.holdfast.show(done.job_id)

    assert {task.id: task.attempt for task in after.tasks}["T0"] == 2
    assert after.status == "done"


@pytest.mark.long
async def test_a_sentence_of_the_loop_is_traced_and_its_evidence_retracted(
    engine: RunningEngine,
) -> None:
    job = await engine.run(QUESTION, preset_name="research", servers=("lab",))
    report = await report_of(engine.holdfast, job.job_id)
    cited = next(each for each in report.citations if each.quote == BRIDGE)

    origin = await provenance_of(engine.holdfast, job.job_id, cited.mark)
    gone = await retract_job_evidence(
        engine.db, job.job_id, cited.evidence_id, reason="a hoax", by="dana"
    )
    warned = await report_of(engine.holdfast, job.job_id)

    assert origin.task_id == "T0.1", "the search of the loop that read the passage"
    depends_on = f"depends on evidence {cited.evidence_id} (active), found by T0.1"
    assert depends_on in trace_lines(origin), "no value, and no name that only the engine uses"
    assert gone.task == "T0"
    assert any("a hoax" in warning for warning in warned.warnings)
