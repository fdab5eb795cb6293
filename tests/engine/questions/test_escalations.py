"""Tests for an escalation through the workflow: the verifier asks, the job waits, a person decides."""

from datetime import timedelta

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.user_questions import AnswerOrigin, QuestionKind
from holdfast.roles.agents.stepper import STEPPER
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.evidence import verification_rows
from holdfast.storage.jobs import job_rows
from holdfast.storage.questions import question_rows
from tests.engine.control.test_job_controls import events_of_kind
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, verifier_answer
from tests.support.jobs.plan_builders import agent_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

WITHIN = timedelta(seconds=60)


@pytest.fixture(autouse=True)
def _doubtful_first_attempt(players: ScriptedRoles, tools: ScriptedTools) -> None:
    """T1 is escalated in its first attempt and complete in its second; T2 is complete."""
    players.plan = plan(agent_task("T1", about="Who?"), agent_task("T2", about="Where?"))
    seen: list[str] = []

    def verify(asked: ReceivedRequest) -> object:
        seen.append(asked.task["id"])
        is_doubtful = asked.task["id"] == "T1" and seen.count("T1") == 1
        changes = {"recommendation": "escalate"} if is_doubtful else {}
        return verifier_answer(0.6 if is_doubtful else 0.9, **changes)

    players.parts["verifier"] = verify
    tools.answers = lambda argument: f"[{argument}]"


@pytest.mark.conformance("VMAO-16")
@pytest.mark.parametrize(
    ("choice", "words", "attempt", "hints"),
    [
        ("accept", "", 1, []),
        ("retry", "", 2, ["look again", "what is missing"]),
        ("", "Ask the harbour.", 2, ["Ask the harbour.", "what is missing"]),
    ],
    ids=["accept", "retry", "words"],
)
async def test_a_job_waits_for_the_persons_word_on_what_the_verifier_escalates_and_follows_it(
    engine: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
    choice: str,
    words: str,
    attempt: int,
    hints: list[str],
) -> None:
    job_id = await engine.submit(
        "Who and where?", preset_name="vmao", ready_threshold="1", high_confidence="1"
    )
    question = await wait_for_question(engine, job_id, QuestionKind.ESCALATION)
    asked_before = model.count
    waiting = (await job_rows.load_job(engine.db, job_id)).status
    gaps_before = players.count(GAP_PLANNER)

    await JobController(engine.holdfast, "dana").answer(job_id, question.id, choice, words)
    job = await engine.holdfast.wait(job_id, WITHIN)

    assert (question.task_id, question.default, question.choices) == (
        "T1",
        "retry",
        ("accept", "retry"),
    )
    assert "The verifier cannot judge T1: Who?" in question.text
    assert (waiting, gaps_before) == (JobStatus.RUNNING, 0), "nothing is filled before the answer"
    assert job.status is JobStatus.DONE, job.message
    assert model.count > asked_before
    tasks = {task.id: task for task in (await engine.holdfast.show(job_id)).tasks}
    assert (tasks["T1"].attempt, tasks["T2"].attempt) == (attempt, 1)
    begun = [task for task in players.tasks(STEPPER) if task["node"] == "T1" and not task["trace"]]
    assert [task["hints"] for task in begun] == ([[]] if attempt == 1 else [[], hints])
    last = (await verification_rows.verdicts_of(engine.db, job_id)).popitem()[1]
    if attempt == 2:
        assert {each.task_id: each.status.value for each in last} == dict.fromkeys(
            ("T1", "T2"), "complete"
        )
    assert [task["id"] for task in players.tasks(VERIFIER)].count("T1") == attempt


@pytest.mark.conformance("VMAO-16")
@pytest.mark.long
async def test_an_escalation_that_nobody_answers_in_time_is_a_retry(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job = await engine.run(
        "Who and where?",
        preset_name="vmao",
        ready_threshold="1",
        high_confidence="1",
        question_deadline="PT1S",
    )

    assert job.status == "done", job.message
    assert {task.id: task.attempt for task in job.tasks if "." not in task.id} == {"T1": 2, "T2": 1}
    [kept] = await question_rows.questions_of(engine.db, job.job_id)
    assert (kept.answer, kept.origin) == ("retry", AnswerOrigin.DEFAULT)
    [note] = await events_of_kind(engine, job.job_id, "question.answered")
    assert note.facts["origin"] == "default"
