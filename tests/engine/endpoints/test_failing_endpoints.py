"""Tests for jobs whose model endpoint refuses, fails for a while, or answers with nonsense."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from holdfast.activities.runtime.model_call import MOST_MALFORMED_REPLIES
from holdfast.models.calls.call_records import CallView
from holdfast.models.errors import FailureClass
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity, Plan, Task, TaskInput
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan, result_reference
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.long_parameters import mostly_long
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION = "When was the bridge opened?"
TEXT = "The bridge was opened in 1932."
PLAN = plan(lookup_task("T1"), final_task("T2", "T1"))


def planned(plan: Plan) -> ScriptedReply:
    return ScriptedReply.playing(PLANNER, planner_answer(plan))


def replanned(plan: Plan) -> ScriptedReply:
    return ScriptedReply.playing(REPLANNER, planner_answer(plan))


FOUND = ScriptedReply.playing(
    EXTRACTOR,
    {"entities": [{"name": "value", "value": "1932", "quote": TEXT}], "confidence": 0.9},
)
REASONED = ScriptedReply.playing(
    REASONER, {"status": "completed", "outputs": [{"name": "final_answer", "value": "1932"}]}
)
# A sentence that only quotes needs no judgement, so these are all the calls of a job.
REPORT = ScriptedReply.playing(SYNTHESISER, {"summary": [{"text": TEXT, "evidence": ["E1"]}]})
GOOD = (planned(PLAN), FOUND, REASONED, REPORT)


@pytest.fixture(autouse=True)
def page(tools: ScriptedTools) -> None:
    tools.answers = {"q": TEXT}


async def calls(engine: RunningEngine, job_id: str, role: str) -> list[CallView]:
    return [call for call in await job_queries.job_calls(engine.db, job_id) if call.role == role]


def refusal(status: int, text: str, code: str | None = None) -> ScriptedReply:
    return ScriptedReply(status=status, error={"message": text, "type": code, "code": code})


REFUSALS = {
    "401": (
        refusal(401, "Incorrect API key provided: sk-test-key", "invalid_api_key"),
        "answered 401: Incorrect API key provided: ***********; check the key in OPENAI_API_KEY",
    ),
    "404": (
        refusal(404, "The model `scripted` does not exist", "model_not_found"),
        "does not exist; check the model name and OPENAI_BASE_URL, which often ends in /v1",
    ),
}
refusals = pytest.mark.parametrize(("refused", "advice"), REFUSALS.values(), ids=REFUSALS.keys())


@refusals
async def test_refused_planner_ends_the_job_with_advice(
    engine: RunningEngine, model: ScriptedModel, refused: ScriptedReply, advice: str
) -> None:
    model.push(refused)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason, job.tasks) == ("failed", "model_refused", ())
    assert job.message.startswith(
        f"the planner's model call failed: model 'scripted' at {model.url}"
    )
    assert advice in job.message
    assert "sk-test" not in job.message
    (call,) = await calls(engine, job.job_id, "planner")
    assert (call.status, call.sends, model.count) == ("failed", 1, 1)
    assert call.error is not None
    assert advice in call.error


@refusals
async def test_refusal_in_mid_job_ends_it_and_keeps_what_was_paid_for(
    engine: RunningEngine, model: ScriptedModel, refused: ScriptedReply, advice: str
) -> None:
    model.push(planned(PLAN), FOUND, refused)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason, job.replans) == ("failed", "model_refused", 0)
    assert advice in job.message
    found, answer = job.tasks
    assert (found.status, found.entities) == ("done", {"value": "1932"})
    assert answer.status == "failed"
    assert answer.failure is not None
    assert advice in str(answer.failure["message"])
    assert answer.failure["failure_class"] == FailureClass.POLICY


class Stumbling:
    """Answers by the script; the planner's first call meets a stumble. Notes when it was asked."""

    def __init__(self, stumble: ScriptedReply) -> None:
        self.replies: Iterator[ScriptedReply] = iter((stumble, *GOOD))
        self.times: list[float] = []

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        self.times.append(time.monotonic())
        return next(self.replies)


_FAR_TOO_LONG_S = 30.0
"""Also on a busy machine, which makes a wait of 2 s some seconds longer."""
BUSY = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
STUMBLES = {
    "429-retry-after": (ScriptedReply(status=429, headers={"retry-after": "2"}, **BUSY), 2.0),
    "dropped": (ScriptedReply(drop=True), 0.5),
    "429": (ScriptedReply(status=429, **BUSY), 0.5),
    "500": (ScriptedReply(status=500, error={"message": "the server had an error"}), 0.5),
    "503-html": (ScriptedReply(status=503, raw=b"<html>", media_type="text/html"), 0.5),
    "cut": (ScriptedReply(is_cut=True), 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(STUMBLES, usual=2))
async def test_stumble_is_waited_out_and_the_call_sent_again(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    tools: ScriptedTools,
    name: str,
) -> None:
    stumble, least = STUMBLES[name]
    script = Stumbling(stumble)
    with ScriptedModel(script) as model:
        places = {"model_url": model.url, "tools_url": tools.url}
        async with running_engine(temporal, database_url, tmp_path, **places) as engine:
            job = await engine.run(QUESTION)
            (planning,) = await calls(engine, job.job_id, "planner")

    assert (job.status, job.answer, job.message) == ("done", "1932", "")
    assert (planning.status, planning.sends, planning.error) == ("done", 2, None)
    assert model.count == 5
    assert least <= script.times[1] - script.times[0] < _FAR_TOO_LONG_S


NONSENSE = {
    "html": ScriptedReply(
        raw=b"<html><body>Welcome to nginx!</body></html>", media_type="text/html"
    ),
    "half": ScriptedReply(raw=b'{"id": "chatcmpl-1", "choices": [{"index": 0, "mess'),
    "no-choice": ScriptedReply(raw=b'{"id": "chatcmpl-1", "choices": []}'),
    "nothing": ScriptedReply(raw=b""),
    "list": ScriptedReply(raw=b"[1, 2, 3]"),
    "no-utf8": ScriptedReply(raw=b"\xff\xfe\xfd"),
}


@pytest.mark.conformance("REL-07")
@pytest.mark.parametrize("name", mostly_long(NONSENSE, usual=2))
async def test_answer_that_is_no_chat_completion_is_waited_out_like_an_absent_endpoint(
    engine: RunningEngine, model: ScriptedModel, name: str
) -> None:
    model.push(NONSENSE[name], *GOOD)

    job = await engine.run(QUESTION)

    assert (job.status, job.answer, job.message) == ("done", "1932", "")
    (planning,) = await calls(engine, job.job_id, "planner")
    assert (planning.status, planning.sends, planning.error) == ("done", 2, None)


@pytest.mark.conformance("REL-07")
@pytest.mark.long
async def test_endpoint_that_never_sends_a_chat_completion_ends_the_job_which_says_what_it_sent(
    engine: RunningEngine, model: ScriptedModel
) -> None:
    model.push(*[NONSENSE["html"]] * MOST_MALFORMED_REPLIES)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")
    assert (
        f"model 'scripted' at {model.url} did not answer with a chat completion but with: "
        "<html><body>Welcome to nginx!" in job.message
    )
    assert "check OPENAI_BASE_URL, which often ends in /v1 (5 replies" in job.message
    assert model.count == MOST_MALFORMED_REPLIES


@pytest.mark.conformance("REL-07")
@pytest.mark.long
async def test_fallback_is_called_instead_of_an_endpoint_that_sends_no_chat_completion(
    engine: RunningEngine, model: ScriptedModel
) -> None:
    model.push(*[NONSENSE["no-choice"]] * MOST_MALFORMED_REPLIES, *GOOD)

    job = await engine.run(QUESTION, fallback_model="backup", fallback_after="PT1H")

    assert (job.status, job.answer) == ("done", "1932")
    assert [asked.body["model"] for asked in model.asked[4:6]] == ["scripted", "backup"]


UNSTORABLE = {
    "half-a-character": ScriptedReply(content='{"tasks": [], "explanation": "\\ud83d"}'),
    "nul-in-an-error": ScriptedReply(status=400, error={"message": "bad\x00request"}),
    "nul-in-a-refusal": ScriptedReply(content=None, refusal="I can\x00not"),
    "nul-in-the-finish": ScriptedReply(content="{}", finish="st\x00op"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_long(UNSTORABLE, usual=2))
async def test_text_that_postgresql_cannot_hold_is_not_paid_for_again(
    engine: RunningEngine, model: ScriptedModel, name: str
) -> None:
    model.push(*[UNSTORABLE[name]] * 8)

    job_id = await engine.submit(QUESTION)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")
    assert [call.sends for call in await calls(engine, job_id, "planner")] == [1] * model.count


@pytest.mark.long
async def test_nonsense_in_mid_job_fails_the_task_which_is_replanned(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    tools.answers = {"q": TEXT, "again": TEXT}
    again = plan(lookup_task("T1a", query="again"), final_task("T2a", "T1a"))
    nonsense = [NONSENSE["html"]] * MOST_MALFORMED_REPLIES
    model.push(planned(PLAN), *nonsense, replanned(again), FOUND, REASONED, REPORT)

    job = await engine.run(QUESTION)

    assert (job.status, job.answer, job.replans) == ("done", "1932", 1)
    failure = job.tasks[0].failure
    assert failure is not None
    assert failure["component"] == "extractor"
    assert f"at {model.url} did not answer with a chat completion" in str(failure["message"])
    assert any(asked.plays(EXTRACTOR) for asked in model.asked)


def with_inputs(task: Task, *inputs: TaskInput) -> Task:
    return task.model_copy(update={"inputs": inputs})


QUERY = TaskInput(name="query", value="q")
KPI_03: dict[str, tuple[Callable[[], Plan], str]] = {
    "no tasks": (lambda: plan(), "the plan has no tasks"),
    "unknown tool": (
        lambda: plan(
            lookup_task("T1").model_copy(update={"tool": "lab.dig"}), final_task("T2", "T1")
        ),
        "task 'T1': unknown tool 'lab.dig'; known tools: charts.draw, corpus.",
    ),
    "missing parameter": (
        lambda: plan(with_inputs(lookup_task("T1")), final_task("T2", "T1")),
        "task 'T1': tool 'lab.wikipedia_search' needs the parameter 'query'",
    ),
    "invented parameter": (
        lambda: plan(
            with_inputs(lookup_task("T1"), QUERY, TaskInput(name="Query")), final_task("T2", "T1")
        ),
        "task 'T1': tool 'lab.wikipedia_search' has no parameter 'Query'",
    ),
    "mistyped parameter": (
        lambda: plan(
            with_inputs(
                lookup_task("T1"), TaskInput(name="query", type=EntityType.INTEGER, value=7)
            ),
            final_task("T2", "T1"),
        ),
        "task 'T1': ",
    ),
    "duplicate id": (
        lambda: plan(lookup_task("T1"), lookup_task("T1"), final_task("T2", "T1")),
        "task 'T1': the id is used 2 times",
    ),
    "unknown dependency": (
        lambda: plan(lookup_task("T1", "T9"), final_task("T2", "T1")),
        "task 'T1': depends on 'T9', which does not exist",
    ),
    "cycle": (
        lambda: plan(lookup_task("T1", "T2"), lookup_task("T2", "T1"), final_task("T3", "T2")),
        "task 'T1': its dependencies form a cycle",
    ),
    "undeclared entity": (
        lambda: plan(
            lookup_task("T1"),
            lookup_task("T2", "T1", query=result_reference("T1", "date")),
            final_task("T3", "T2"),
        ),
        "refers to 'T1.date', an entity that 'T1' does not promise",
    ),
    "no final answer": (
        lambda: plan(lookup_task("T1")),
        "task 'T1': the last task must yield exactly 'final_answer', not value",
    ),
    "more than the final answer": (
        lambda: plan(
            lookup_task("T1"),
            final_task("T2", "T1").model_copy(
                update={
                    "expects": (ExpectedEntity(name="final_answer"), ExpectedEntity(name="why"))
                }
            ),
        ),
        "task 'T2': the last task must yield exactly 'final_answer', not final_answer, why",
    ),
}


@pytest.mark.conformance("KPI-02", "KPI-03")
@pytest.mark.parametrize("name", mostly_long(KPI_03, usual=3))
async def test_planner_that_repeats_a_fault_four_times_fails_the_job_which_names_it(
    engine: RunningEngine,
    model: ScriptedModel,
    tools: ScriptedTools,
    name: str,
) -> None:
    faulty, fault = KPI_03[name]
    model.push(*[planned(faulty())] * 4)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason, job.tasks) == ("failed", "planning_failed", ())
    assert job.message.startswith("the planner gave no valid plan. Faults of its last attempt: ")
    assert fault in job.message
    sent = await calls(engine, job.job_id, "planner")
    assert [(call.status, call.sends) for call in sent] == [("done", 1)] * 4
    assert len({call.request_hash for call in sent}) == 4
    assert [asked.plays(PLANNER) for asked in model.asked] == [True] * 4
    assert all(fault in asked.turns[-1]["content"] for asked in model.asked[1:])
    assert tools.called == []


@pytest.mark.conformance("KPI-02")
@pytest.mark.parametrize(
    ("said", "fault"),
    [
        pytest.param("I would rather talk about bridges.", "no JSON object", id="prose"),
        pytest.param("", "the answer is empty", id="empty", marks=pytest.mark.long),
        pytest.param('{"tasks": "all"}', "tasks: ", id="mistyped", marks=pytest.mark.long),
        pytest.param('{"plan": []}', "tasks: Field required", id="renamed"),
    ],
)
async def test_planner_that_never_writes_a_plan_fails_the_job(
    engine: RunningEngine, model: ScriptedModel, said: str, fault: str
) -> None:
    model.push(*[ScriptedReply(content=said, is_lax=True)] * 4)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")
    assert fault in job.message
    assert len(await calls(engine, job.job_id, "planner")) == 4


@pytest.mark.parametrize(
    ("reply", "fault", "paid"),
    [
        pytest.param(
            ScriptedReply(content=None, refusal="I cannot help."), "it was a refusal", 1, id="no"
        ),
        pytest.param(
            ScriptedReply(content='{"tas', finish="length"), "cut off at the length", 4, id="cut"
        ),
        pytest.param(
            ScriptedReply(content="", finish="content_filter"), "content filter", 1, id="filter"
        ),
    ],
)
async def test_planner_that_is_stopped_fails_the_job_which_says_why(
    engine: RunningEngine, model: ScriptedModel, reply: ScriptedReply, fault: str, paid: int
) -> None:
    """A refusal is not paid again; a reply that was cut off may be shorter the next time."""
    model.push(*[reply] * 4)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason) == ("failed", "planning_failed")
    assert fault in job.message
    assert model.count == paid
