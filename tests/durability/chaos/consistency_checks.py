"""Check what must hold of an ended job whatever was killed, and describe each breach."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from itertools import permutations
from typing import LiteralString

from holdfast.models.jobs.job_record import FINAL_JOB_STATUSES
from holdfast.models.plans.research_plan import TaskStatus
from tests.durability.chaos.job_records import (
    ComparableOutcome,
    Connection,
    JobRecord,
    RecordedCall,
    RecordedEvent,
)
from tests.durability.chaos.request_arrivals import RequestContent

ArrivalTimes = Mapping[RequestContent, Sequence[datetime]]

_ENDED = frozenset({"task.done", "task.failed"})
_ONCE = (
    frozenset(
        {
            "job.submitted",
            "job.started",
            "plan.stored",
            "plan.changed",
            "plan.refused",
            "report.delivered",
            "report.refused",
            "job.ended",
        }
    )
    | _ENDED
)
_OF_A_JOB: tuple[LiteralString, ...] = (
    "plan_changes",
    "tasks",
    "entities",
    "evidence",
    "model_calls",
    "tool_calls",
    "events",
    "receipts",
    "reports",
)
_OF_A_TASK: tuple[LiteralString, ...] = ("entities", "evidence", "tool_calls")


class BreachKind(StrEnum):
    """What kind of promise was broken."""

    ANSWER = "wrong answers"
    PLAN = "different plans or endings"
    EVENTS = "lost or doubled events"
    ASKED_AGAIN = "finished calls asked again"
    UNSAFE = "unsafe calls made twice"
    LEDGER = "faults of the ledger"
    COUNTS = "different counts of calls or tokens"
    LIMIT = "limits passed"
    LEFTOVER = "orphans and leftovers"
    FOLLOWER = "entries that followers missed or saw twice"
    HUNG = "hung jobs or rounds"


_OF_STORY = {
    "ending": BreachKind.PLAN,
    "plan": BreachKind.PLAN,
    "calls": BreachKind.COUNTS,
    "tokens": BreachKind.COUNTS,
}


@dataclass(frozen=True)
class Breach:
    """A promise that was not kept, in words."""

    kind: BreachKind
    what: str


@dataclass(frozen=True)
class Circumstances:
    """What was done to a job, as far as its record shows it even if nothing is wrong."""

    has_one_clock: bool = True
    """False: PostgreSQL's clock was set while the job ran."""
    was_reopened: bool = False
    """True: a person cancelled and resumed the job, so its tasks have more attempts."""
    was_steered: bool = False
    """True: a planning whose answer was not yet stored is asked again, with the guidance."""
    is_unsafe: bool = False
    """True: the job's tool may not be repeated, so an unclear call of it leads to a replan."""


UNDISTURBED = Circumstances()
_PLANNING = frozenset({"planner", "replanner", "gap_planner", "reviser", "loop_agent"})
"""The roles whose requests have the user's guidance."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_ONCE_IF_REOPENED = frozenset({"job.submitted", "plan.stored", "plan.changed"})


def find_breaches(
    now: JobRecord,
    undisturbed: ComparableOutcome,
    came: ArrivalTimes,
    course: Circumstances = UNDISTURBED,
) -> list[Breach]:
    """Everything about the job that is not as it must be."""
    if not course.has_one_clock:
        came = {content: [_LONG_AGO for _ in times] for content, times in came.items()}
    return [
        *_differences(now, undisturbed, course),
        *_event_faults(now, course),
        *_ledger_faults(now.calls, came, course),
        *_limits_passed(now),
        *_leftovers(now),
    ]


def _differences(
    now: JobRecord, undisturbed: ComparableOutcome, course: Circumstances
) -> Iterator[Breach]:
    names = [field.name for field in fields(ComparableOutcome)]
    if course.is_unsafe and any(not call.is_answered for call in now.calls):
        names = ["ending"]  # an unclear call was withheld, so the rest is that of another plan
    elif course.was_reopened and _ran_again(now, undisturbed):
        names = ["ending", "answer"]
    for name in names:
        is_, was = [_as_compared(name, each, course) for each in (now.story, undisturbed)]
        if is_ != was:
            kind = _OF_STORY.get(name, BreachKind.ANSWER)
            yield Breach(kind, _first_difference(name, is_, was))


def _ran_again(now: JobRecord, undisturbed: ComparableOutcome) -> bool:
    """True if a task had failed when a person cancelled the job: resuming tries it again first."""
    tasks, _ = undisturbed.plan
    attempts = {task["id"]: task["attempt"] for task in tasks}
    return any(task["attempt"] > attempts.get(task["id"], 1) for task in now.tasks)


def _as_compared(name: str, outcome: ComparableOutcome, course: Circumstances) -> object:
    """A part of the outcome, without what the circumstances change."""
    value = getattr(outcome, name)
    if name == "plan" and course.was_reopened:
        tasks, revisions = value
        return [[task | {"attempt": 1} for task in tasks], revisions]
    if name == "calls" and course.was_steered:
        return {asked: count for asked, count in value.items() if asked not in _PLANNING}
    return value if name != "tokens" or not course.was_steered else 0


def _event_faults(now: JobRecord, course: Circumstances) -> Iterator[Breach]:
    numbers = [event.seq for event in now.events]
    if numbers != list(range(1, now.job["last_event"] + 1)):
        yield Breach(BreachKind.EVENTS, f"the log's numbers have gaps: {numbers}")
    once = _ONCE_IF_REOPENED if course.was_reopened else _ONCE
    counts = Counter((e.kind, e.task_id) for e in now.events if e.kind in once)
    due = Counter({what: n for what, n in _events_due(now).items() if what[0] in once})
    for (kind, task_id), count in (counts - due).items():
        yield Breach(BreachKind.EVENTS, f"{kind} {task_id} is there {count} times too often")
    for (kind, task_id), count in (due - counts).items():
        yield Breach(BreachKind.EVENTS, f"{kind} {task_id} is missing {count} times")
    yield from _started_twice(now.events)
    if not course.was_reopened:
        yield from _started_late(now.events)
    yield from _open_tasks(now)


def _events_due(now: JobRecord) -> Counter[tuple[str, str]]:
    """The entries that the job's rows call for, each as often as it must be there."""
    due = Counter({("job.submitted", ""): 1, ("job.started", ""): 1, ("job.ended", ""): 1})
    due.update(("plan.changed", revision["scope"]) for revision in now.revisions)
    if now.revisions:
        due["plan.stored", ""] = 1
        due["plan.changed", ""] -= 1
    due["report.delivered", ""] = 1 if now.story.report else 0
    for task in now.tasks:
        # A task that is worked again had been done before, in these shapes.
        due["task.done", task["id"]] += task["attempt"] - 1
        if task["has_ended"]:
            due[f"task.{'failed' if task['failure'] else 'done'}", task["id"]] += 1
    return due


def _open_tasks(now: JobRecord) -> Iterator[Breach]:
    """Tasks of an ended job that nobody will run."""
    for task in now.tasks:
        if now.job["status"] in FINAL_JOB_STATUSES and TaskStatus(task["status"]).is_open:
            yield Breach(BreachKind.ANSWER, f"{task['id']} of an ended job is {task['status']}")


def _started_twice(events: Sequence[RecordedEvent]) -> Iterator[Breach]:
    counts = Counter((e.task_id, e.attempt) for e in events if e.kind == "task.started")
    for (task_id, attempt), count in counts.items():
        if attempt is None or count > 1:
            what = f"{task_id} started {count} times in attempt {attempt}"
            yield Breach(BreachKind.EVENTS, what)


def _started_late(events: Sequence[RecordedEvent]) -> Iterator[Breach]:
    started, over = set(), set()
    for event in events:
        if event.kind == "task.started":
            started.add(event.task_id)
            if event.task_id in over:
                yield Breach(BreachKind.EVENTS, f"{event.task_id} was started after it had ended")
        if event.kind in _ENDED:
            over.add(event.task_id)
    for task_id in over - started:
        yield Breach(BreachKind.EVENTS, f"{task_id} ended without having started")


def _ledger_faults(
    calls: Sequence[RecordedCall], came: ArrivalTimes, course: Circumstances
) -> Iterator[Breach]:
    rows: dict[RequestContent, list[RecordedCall]] = defaultdict(list)
    for call in calls:
        if not call.is_copy:
            rows[call.content].append(call)
    for content in came.keys() - rows.keys():
        yield Breach(BreachKind.LEDGER, f"a request to {content.asked} left that no row announces")
    for content, found in rows.items():
        attempts = {(call.task_id, call.attempt) for call in found}
        # A person who resumes has failed tasks and the report made again, as the next attempt.
        may_be_late = course.was_reopened and len(attempts) > 1
        yield from _row_faults(found, came.get(content, ()), may_be_late=may_be_late)
    for content, times in came.items():
        if course.is_unsafe and content.asked == "tool" and len(times) > 1:
            what = f"a tool that is not safe to repeat was called {len(times)} times"
            yield Breach(BreachKind.UNSAFE, what)
    settled = [c for c in calls if not (course.was_steered and c.content.asked in _PLANNING)]
    yield from _asked_in_other_words(settled, came)


def _asked_in_other_words(calls: Sequence[RecordedCall], came: ArrivalTimes) -> Iterator[Breach]:
    """A call whose request was another when it was repeated, though it had its answer."""
    for one, other in permutations(calls, 2):
        is_same_call = one.name == other.name and one.content != other.content
        times = came.get(other.content, ())
        if is_same_call and one.is_answered and one.finished_at and times:
            after = (times[0] - one.finished_at).total_seconds()
            if after > 0:
                what = f"{one.name} was asked again in other words {after:.3f} s after its answer"
                yield Breach(BreachKind.ASKED_AGAIN, what)


def _row_faults(
    found: Sequence[RecordedCall], times: Sequence[datetime], *, may_be_late: bool
) -> Iterator[Breach]:
    name, sends = found[0].name, sum(call.sends for call in found)
    finished = [call.finished_at for call in found if call.is_answered and call.finished_at]
    if len(times) > sends:
        yield Breach(BreachKind.ASKED_AGAIN, f"{name} came {len(times)} times, announced {sends}")
    late = [at for at in times if finished and at > min(finished)]
    if late and not may_be_late:
        after = (late[0] - min(finished)).total_seconds()
        yield Breach(
            BreachKind.ASKED_AGAIN, f"{name} was asked again {after:.3f} s after its answer"
        )
    if len(times) < len(finished):
        yield Breach(BreachKind.LEDGER, f"{name} has an answer, but was asked {len(times)} times")
    for call in found:
        if call.status == "started":
            yield Breach(BreachKind.LEFTOVER, f"{name} is left as `started`")


def _limits_passed(now: JobRecord) -> Iterator[Breach]:
    limits = now.job["strategy"]
    replans = sum(revision["cause"] == "replanned" for revision in now.revisions)
    made = sum(call.content.asked == "tool" and not call.is_copy for call in now.calls)
    if replans > limits["max_replans"]:
        yield Breach(BreachKind.LIMIT, f"{replans} replans, the limit is {limits['max_replans']}")
    if made > limits["max_tool_calls"]:
        yield Breach(
            BreachKind.LIMIT, f"{made} tool calls, the limit is {limits['max_tool_calls']}"
        )


def _leftovers(now: JobRecord) -> Iterator[Breach]:
    for task in now.tasks:
        if task["status"] == "running":
            yield Breach(BreachKind.LEFTOVER, f"{task['id']} is left as `running`")
    for row in now.evidence:
        if not row["resolves"]:
            yield Breach(BreachKind.LEFTOVER, f"evidence of {row['task_id']} does not resolve")


def find_changed_calls(
    before: Sequence[RecordedCall], now: Sequence[RecordedCall]
) -> Iterator[Breach]:
    """Whether an answer that PostgreSQL had before a kill is lost, or was asked for once more."""
    there = {(call.content, call.task_id, call.attempt, call.part): call for call in now}
    for call in before:
        if call.is_answered and not call.is_copy:
            found = there.get((call.content, call.task_id, call.attempt, call.part))
            if found is None or not found.is_answered:
                yield Breach(BreachKind.LEDGER, f"the answer of {call.name} is lost")
            elif (found.sends, found.answer) != (call.sends, call.answer):
                yield Breach(BreachKind.ASKED_AGAIN, f"{call.name} was answered, then sent again")


async def find_orphans(books: Connection) -> list[Breach]:
    """Rows of the whole installation that belong to no job, or to no task of theirs."""
    found = []
    for table in _OF_A_JOB:
        query: LiteralString = f"""select count(*) as n from {table} t
            where not exists (select from jobs where jobs.id = t.job_id)"""
        found += await _counted(books, query, f"{table}: rows without a job")
    for table in _OF_A_TASK:
        query = f"""select count(*) as n from {table} t where not exists (
            select from tasks where tasks.job_id = t.job_id and tasks.id = t.task_id)"""
        found += await _counted(books, query, f"{table}: rows without a task")
    return found


async def _counted(books: Connection, query: LiteralString, what: str) -> list[Breach]:
    row = await (await books.execute(query)).fetchone()
    count = row["n"] if row else 0
    return [Breach(BreachKind.LEFTOVER, f"{what}: {count}")] if count else []


def _first_difference(where: str, is_: object, was: object) -> str:
    """Where two values differ first, down to the innermost list or dict."""
    match is_, was:
        case dict(), dict():
            keys = sorted(is_.keys() | was.keys())
            key = next(key for key in keys if is_.get(key) != was.get(key))
            return _first_difference(f"{where}.{key}", is_.get(key), was.get(key))
        case list(), list() if len(is_) == len(was):
            n = next(n for n, pair in enumerate(zip(is_, was, strict=True)) if pair[0] != pair[1])
            return _first_difference(f"{where}[{n}]", is_[n], was[n])
    return f"{where} is {str(is_)[:300]}, undisturbed {str(was)[:300]}"
