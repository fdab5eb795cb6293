"""Tests that a finished call is found by its place and content, whatever words a release changed."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import Field
from sqlalchemy import update

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.tool_call import ToolCaller
from holdfast.models.calls.call_records import CallKey, CallView
from holdfast.models.calls.model_requests import (
    Completion,
    Message,
    ModelRequest,
    canonical_hash,
)
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import (
    BudgetReached,
    CallAwaited,
    ModelRefused,
    OutcomeUnknown,
    ToolFailed,
)
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.wire import call_places
from holdfast.models.wire.event_kinds import EventKind
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.planning.planner import PLANNER, PlannerTask
from holdfast.roles.tasks.reasoner import REASONER, ReasonerAnswer, ReasonerTask
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.plan_tables import tasks
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts
from holdfast.storage.ledger.inherited_answers import missing_tool_recording
from holdfast.storage.plans import plan_change_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import planner_answer
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

TASK = ReasonerTask(question="Who?", description="deduce", inputs=(), outputs=())
ANSWER = {"status": "completed", "reasoning_steps": ["therefore"]}


def played(answer: dict[str, Any], role: Role[Any, Any] = REASONER) -> ScriptedReply:
    return ScriptedReply.playing(role, answer)


class WiderAnswer(ReasonerAnswer):
    """The reasoner's answer in a release that also asks for doubts."""

    doubts: list[str] = Field(default_factory=list, description="what speaks against it")


class WiderTask(ReasonerTask):
    """The reasoner's task in a release that also gives hints."""

    hints: tuple[str, ...] = ("mind the dates",)


LATER = replace(REASONER, instructions="Reason with care.", answer=WiderAnswer, task=WiderTask)
"""The reasoner of a later release: other instructions, answer schema and fields."""
WIDER_TASK = WiderTask(**TASK.model_dump())


@dataclass
class Bench:
    """A job whose calls the tests make one by one, as activities of several releases would."""

    engine: RunningEngine
    job_id: str
    replayed: tuple[str, ...] = ()
    """The jobs whose recorded answers are the only ones that count; none: calls are sent."""

    async def ask(
        self,
        role: Role[Any, Any],
        task: Any,
        *,
        attempt: int = 1,
        check: Any = None,
        counted: EarlierAttempts | None = None,
    ) -> tuple[Any, int]:
        """Return the answer, and how many requests the dialogue took."""
        job = await job_rows.load_job(self.engine.db, self.job_id)
        order = AttemptOrder(job_id=self.job_id, epoch=1, attempt=attempt)
        caller = ModelCaller.of(
            self.engine.parts, order, job.request, "T1", earlier_attempts=counted
        )
        dialogue = await caller.ask(role, task, check=check)
        return dialogue.answer, dialogue.attempts

    async def call(
        self,
        tool: str,
        argument: str,
        *,
        task: str = "T1",
        attempt: int = 1,
        most_s: float = 9,
    ) -> Any:
        name = "text" if tool == "lab.note" else "key"
        ledger = CallLedger(self.engine.db, origins=self.replayed, is_frozen=bool(self.replayed))
        return await ToolCaller(
            ledger,
            self.engine.parts.hub,
            self.job_id,
            task,
            attempt,
            facts={},
            timeout=timedelta(seconds=most_s),
        ).call(tool, {name: argument})

    async def calls(self) -> list[CallView]:
        return list(await job_queries.job_calls(self.engine.db, self.job_id))


async def bench_of(engine: RunningEngine, **settings: str) -> Bench:
    return Bench(engine, await engine.submit("Who?", start_delay=timedelta(hours=1), **settings))


@pytest.fixture
async def bench(scripted_engine: RunningEngine) -> Bench:
    return await bench_of(scripted_engine)


@pytest.mark.conformance("REL-02")
@pytest.mark.parametrize("settings", [{}, {"max_tokens": "100000"}], ids=["", "with a budget"])
async def test_an_answer_is_found_under_the_words_of_a_later_release(
    scripted_engine: RunningEngine, model: ScriptedModel, settings: dict[str, str]
) -> None:
    bench = await bench_of(scripted_engine, **settings)
    model.push(played(ANSWER))
    first, _ = await bench.ask(REASONER, TASK)

    later, _ = await bench.ask(LATER, WIDER_TASK)

    assert model.count == 1
    assert later.reasoning_steps == first.reasoning_steps
    (call,) = await bench.calls()
    assert (call.sends, call.reused) == (1, 1)


async def test_a_recorded_answer_is_found_although_the_budget_is_used_up(
    scripted_engine: RunningEngine, model: ScriptedModel
) -> None:
    bench = await bench_of(scripted_engine, max_tokens="2000", report_reserve="0")
    large = {"prompt_tokens": 5000, "completion_tokens": 5000}
    model.push(replace(played(ANSWER), usage=large))
    await bench.ask(REASONER, TASK)

    await bench.ask(LATER, WIDER_TASK)

    assert model.count == 1
    with pytest.raises(BudgetReached):
        await bench.ask(LATER, WIDER_TASK.model_copy(update={"question": "Where?"}))


@pytest.mark.conformance("REL-02")
async def test_an_answer_is_found_under_another_list_of_tools(
    bench: Bench, model: ScriptedModel
) -> None:
    task = PlannerTask(question="Who?", tools=(ToolSignature(name="lab.lookup"),))
    more = (*task.tools, ToolSignature(name="charts.draw"))
    agents = (AgentBrief(name="scout", description="looks around"),)
    model.push(played(planner_answer(plan(final_task("T1"))), PLANNER))
    await bench.ask(PLANNER, task)

    answer, _ = await bench.ask(PLANNER, task.model_copy(update={"tools": more, "agents": agents}))

    assert model.count == 1
    assert [each.id for each in answer.tasks] == ["T1"]


async def test_other_content_is_asked_under_the_same_and_under_other_words(
    bench: Bench, model: ScriptedModel
) -> None:
    """A later attempt, and in the same attempt other inputs, for example after steering."""
    roles = (REASONER, REASONER, REASONER, LATER, LATER)
    model.push(*[played(ANSWER | {"explanation": str(n)}, role) for n, role in enumerate(roles)])
    await bench.ask(REASONER, TASK)

    other = {"question": "Where?"}
    asked = [
        await bench.ask(REASONER, TASK.model_copy(update=other)),
        await bench.ask(REASONER, TASK, attempt=2),
        await bench.ask(LATER, WIDER_TASK, attempt=3),
        await bench.ask(LATER, WIDER_TASK.model_copy(update={"description": "deduce more"})),
    ]

    assert [answer.explanation for answer, _ in asked] == ["1", "2", "3", "4"]
    again, _ = await bench.ask(LATER, WIDER_TASK.model_copy(update=other))
    assert (again.explanation, model.count) == ("1", 5)


async def test_a_reopened_job_uses_the_answers_of_its_earlier_attempts_that_count(
    bench: Bench, model: ScriptedModel
) -> None:
    """Not the report's before the report was refused, and another question is asked."""
    model.push(*[played(ANSWER | {"explanation": str(n)}) for n in range(3)])
    await bench.ask(REASONER, TASK)
    since_refusal = EarlierAttempts(since=StopReason.REPORT_REFUSED)

    async def explained(attempt: int, counted: EarlierAttempts, question: str = "Who?") -> str:
        task = TASK.model_copy(update={"question": question})
        answer, _ = await bench.ask(REASONER, task, attempt=attempt, counted=counted)
        return str(answer.explanation)

    async def refuses_report(reason: StopReason) -> None:
        """The job had been cancelled, and a partial report was asked for."""
        async with bench.engine.db.job(bench.job_id) as write:
            write.event(EventKind.REPORT_REFUSED, reason=reason.value)
            write.event(EventKind.JOB_ENDED, reason=StopReason.CANCELLED.value)

    second = [await explained(2, EarlierAttempts()), await explained(2, since_refusal)]
    await refuses_report(StopReason.REPORT_REFUSED)
    third = [await explained(3, EarlierAttempts()), await explained(3, since_refusal)]
    await refuses_report(StopReason.MODEL_REFUSED)
    fourth = [await explained(4, since_refusal), await explained(4, EarlierAttempts(), "Where?")]

    assert (second, third, fourth) == (["0", "0"], ["0", "1"], ["1", "2"])
    assert model.count == 3
    assert sum(call.reused for call in await bench.calls()) == 4


async def test_a_call_that_was_cut_off_is_found_again_and_holds_up_no_other(
    scripted_engine: RunningEngine, model: ScriptedModel
) -> None:
    """A task has reached its time limit; its call may have been paid for."""
    bench = await bench_of(scripted_engine, max_tokens="9000", report_reserve="0")
    model.push(replace(played(ANSWER), delay=30))

    async def prompt() -> str | None:
        return await CallLedger(bench.engine.db).first_prompt(
            bench.job_id, "T1", 1, REASONER.name, call_places.call_part("", 1)
        )

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bench.ask(REASONER, TASK), 3)
    cut, sent = await bench.calls(), await prompt()
    model.push(played(ANSWER), played(ANSWER))
    await bench.ask(REASONER, TASK.model_copy(update={"question": "Where?"}), attempt=2)
    await bench.ask(REASONER, TASK)

    assert [call.status for call in cut] == ["unknown"]
    assert sent is not None
    assert [(call.status, call.sends) for call in await bench.calls()] == [("done", 2), ("done", 1)]


def refuse_first(words: str) -> Any:
    """A check that refuses the explanation `first` with these words."""

    def check(answer: ReasonerAnswer) -> Sequence[str]:
        return [words] if answer.explanation == "first" else []

    return check


FIRST, SECOND, OTHER = (ANSWER | {"explanation": name} for name in ("first", "second", "other"))


@pytest.mark.conformance("REL-02")
async def test_every_turn_of_a_dialogue_is_found_although_its_faults_are_worded_otherwise(
    bench: Bench, model: ScriptedModel
) -> None:
    model.push(played(FIRST), played(SECOND))
    assert (await bench.ask(REASONER, TASK, check=refuse_first("too vague")))[1] == 2

    answer, requests = await bench.ask(LATER, WIDER_TASK, check=refuse_first("be exact"))

    assert (answer.explanation, requests, model.count) == ("second", 2, 2)


async def test_a_dialogue_that_was_cut_goes_on_in_the_words_of_today(
    bench: Bench, model: ScriptedModel
) -> None:
    model.push(played(FIRST), ScriptedReply(status=401, error={"message": "no"}))
    with pytest.raises(ModelRefused):
        await bench.ask(REASONER, TASK, check=refuse_first("too vague"))

    model.push(played(SECOND, LATER))
    answer, _ = await bench.ask(LATER, WIDER_TASK, check=refuse_first("be exact"))

    assert (answer.explanation, model.count) == ("second", 3)
    turns = model.asked[-1].turns
    assert model.asked[-1].system.startswith("Reason with care.")
    assert "first" in turns[2]["content"]
    assert "be exact" in turns[3]["content"]


async def test_a_later_turn_is_not_taken_from_a_dialogue_with_another_first_turn(
    bench: Bench, model: ScriptedModel
) -> None:
    model.push(played(FIRST), played(SECOND))
    await bench.ask(REASONER, TASK, check=refuse_first("too vague"))
    steered = WIDER_TASK.model_copy(update={"question": "Who, as of today?"})

    model.push(played(FIRST, LATER), played(OTHER, LATER))
    answer, _ = await bench.ask(LATER, steered, check=refuse_first("too vague"))

    assert (answer.explanation, model.count) == ("other", 4)


async def test_an_unfinished_call_is_sent_in_the_words_of_today(
    bench: Bench, model: ScriptedModel
) -> None:
    model.push(ScriptedReply(status=401, error={"message": "no"}), played(ANSWER, LATER))
    with pytest.raises(ModelRefused):
        await bench.ask(REASONER, TASK)

    await bench.ask(LATER, WIDER_TASK)

    assert [asked.system[:17] for asked in model.asked][1] == "Reason with care."
    assert sorted(call.status for call in await bench.calls()) == ["done", "failed"]


@pytest.mark.conformance("REL-02")
@pytest.mark.parametrize("settings", [{}, {"max_tokens": "100000"}], ids=["", "with a budget"])
async def test_a_call_in_flight_that_is_sent_in_other_words_has_an_outcome(
    scripted_engine: RunningEngine, model: ScriptedModel, settings: dict[str, str]
) -> None:
    """A report is delivered only if every call has an outcome."""
    bench = await bench_of(scripted_engine, **settings)
    prompt = Message(role="user", content=TASK.model_dump_json())
    request = ModelRequest(model="scripted", role="reasoner", messages=(prompt,))
    key = CallKey(job_id=bench.job_id, task_id="T1", request_hash=request.hash)
    sent = await CallLedger(scripted_engine.db).open_model_call(key, request)
    model.push(played(ANSWER, LATER))

    await bench.ask(LATER, WIDER_TASK)

    assert sorted(call.status for call in await bench.calls()) == ["done", "unknown"]
    late = Completion(text="{}", model="scripted")
    await CallLedger(scripted_engine.db).close_model_call(sent.row_id, late)
    assert [call.status for call in await bench.calls()] == ["done", "done"]


@pytest.mark.conformance("REL-02")
async def test_one_attempt_calls_its_tool_once_with_the_recorded_arguments(
    bench: Bench, tools: ScriptedTools
) -> None:
    """A later release replaces arguments by another rule."""
    tools.answers = lambda argument: f"found {argument}"
    await bench.call("lab.lookup", "Ada")

    later = await bench.call("lab.lookup", "ada")

    assert (later.answer.text, later.arguments) == ("found Ada", {"key": "Ada"})
    assert tools.called == [("lookup", "Ada")]
    assert (await bench.call("lab.lookup", "ada", attempt=2)).answer.text == "found ada"
    assert [call.reused for call in await bench.calls()] == [1, 0]


async def test_a_tool_that_may_not_be_repeated_is_not_called_with_other_arguments(
    bench: Bench, tools: ScriptedTools
) -> None:
    """Its first call was sent, and the worker died."""
    key = CallKey(job_id=bench.job_id, task_id="T1", request_hash="of an earlier release")
    await CallLedger(bench.engine.db).open_tool_call(key, "lab.note", {"text": "Ada"})

    with pytest.raises(OutcomeUnknown):
        await bench.call("lab.note", "ada")

    assert tools.called == []


async def unanswered(bench: Bench, tools: ScriptedTools) -> None:
    """T1 calls a tool that is not repeatable, and gets no answer in its time."""
    waiting = threading.Event()
    tools.answers = lambda _: str(waiting.wait(20))
    with pytest.raises(OutcomeUnknown, match="look whether it took effect"):
        await bench.call("lab.note", "pay", most_s=0.2)
    waiting.set()
    tools.answers = {"pay": "noted"}


async def test_a_call_without_an_answer_is_repeated_by_no_task_and_no_attempt(
    bench: Bench, tools: ScriptedTools
) -> None:
    """A continuation, an agent's next step, a resumed job and the filling of gaps repeat calls."""
    await unanswered(bench, tools)

    for task, attempt in (("T1", 1), ("T1a", 1), ("T1", 2), ("T9.1", 1), ("T1b", 1)):
        with pytest.raises(OutcomeUnknown, match="once a person runs T") as refused:
            await bench.call("lab.note", "pay", task=task, attempt=attempt)

    assert str(refused.value).startswith("lab.note was called before with these arguments by T1,")
    assert tools.called == [("note", "pay")]
    assert [call.status for call in await bench.calls()] == ["unknown", *["refused"] * 4]


async def test_a_call_of_another_worker_without_an_answer_is_not_repeated_by_another_task(
    bench: Bench, tools: ScriptedTools
) -> None:
    tools.answers = {"pay": "noted"}
    sent = canonical_hash({"tool": "lab.note", "arguments": {"text": "pay"}})
    key = CallKey(job_id=bench.job_id, task_id="T1", request_hash=sent)
    await CallLedger(bench.engine.db).open_tool_call(key, "lab.note", {"text": "pay"})

    with pytest.raises(OutcomeUnknown):
        await bench.call("lab.note", "pay", task="T1a")

    assert tools.called == []


async def test_a_call_that_another_task_makes_now_is_awaited_and_its_answer_is_used(
    bench: Bench, tools: ScriptedTools
) -> None:
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=(lookup_task("T1"),))
    async with bench.engine.db.job(bench.job_id) as write:
        await plan_change_rows.store_change(write, plan(), change)
        await write.connection.execute(update(tasks).values(status="running"))
    waiting = threading.Event()
    tools.answers = lambda _: str(waiting.wait(60))
    first = asyncio.create_task(bench.call("lab.note", "pay", most_s=60))
    while not tools.called:
        await asyncio.sleep(0.05)

    for _ in range(2):
        with pytest.raises(CallAwaited, match=r"lab\.note is under way in T1"):
            await bench.call("lab.note", "pay", task="T2")
    waiting.set()
    await first

    again = await bench.call("lab.note", "pay", task="T2")
    assert again.answer.text == (await first).answer.text
    assert [call.sends for call in await bench.calls()] == [1, 1]
    assert tools.called == [("note", "pay")]


async def test_a_person_who_names_the_task_has_its_call_made_again(
    bench: Bench, tools: ScriptedTools
) -> None:
    await unanswered(bench, tools)
    for task in ("T1a", "T1b"):
        with pytest.raises(OutcomeUnknown):
            await bench.call("lab.note", "pay", task=task)
    added = (lookup_task("T1a"), lookup_task("T1b"))
    change = PlanChange(cause=PlanChangeCause.REPLANNED, added=added)
    async with bench.engine.db.job(bench.job_id) as write:
        await plan_change_rows.store_change(write, plan(), change)
        await job_control_rows.record_rerun(write, ["T1b"], ("T1b",), "dana")

    answered = await bench.call("lab.note", "pay", task="T1b", attempt=2)

    assert answered.answer.text == "noted"
    assert tools.called == [("note", "pay")] * 2
    reused = await bench.call("lab.note", "pay", task="T2")
    assert reused.note.startswith("lab.note was called with these arguments before in this job")
    assert len(tools.called) == 2


async def test_an_error_of_a_tool_stays_its_error_under_other_arguments(
    bench: Bench, tools: ScriptedTools
) -> None:
    for argument in ("Ada", "ada"):
        with pytest.raises(ToolFailed, match="no page for 'Ada'"):
            await bench.call("lab.lookup", argument)

    assert tools.called == [("lookup", "Ada")]


@pytest.mark.conformance("REC-03")
async def test_the_order_of_arguments_does_not_matter_to_the_nearest_recorded_call(
    bench: Bench, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    await bench.call("lab.lookup", "Zoe")
    db = bench.engine.db
    async with db.writing() as connection:
        await connection.execute(update(tool_calls).values(request='{"to": 2, "at": 1}'))

    missing = await missing_tool_recording(db, (bench.job_id,), "lab.lookup", {"to": 3, "at": 1})

    assert missing.endswith("differs from character 16: recorded '2}', now '3}'")


@pytest.mark.conformance("REC-03")
async def test_a_tool_call_that_a_replay_has_no_answer_of_names_the_nearest_recorded_one(
    bench: Bench, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    for attempt, argument in enumerate(("Zoe", "Ada Marsh"), start=1):
        await bench.call("lab.lookup", argument, attempt=attempt)
    replay = replace(await bench_of(bench.engine), replayed=(bench.job_id,))

    same = await replay.call("lab.lookup", "Ada Marsh")
    with pytest.raises(ToolFailed) as missing:
        await replay.call("lab.lookup", "Ada Holm", attempt=2)

    assert same.answer.text == "found Ada Marsh"
    recorded = (await bench.calls())[1]
    assert str(missing.value) == (
        "the record has no answer of lab.lookup to these arguments; the nearest is call "
        f"{recorded.id} of T1, which differs from character 13: recorded 'Marsh\"}}', now 'Holm\"}}'"
    )
    with pytest.raises(ToolFailed, match=r"the record has no call of lab\.count"):
        await replay.call("lab.count", "Ada", attempt=3)
    assert len(tools.called) == 2
