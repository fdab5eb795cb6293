"""Read from PostgreSQL everything that is stored of a job and of its calls."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from tests.durability.chaos.request_arrivals import RequestContent, without_job_mark

Rows = list[dict[str, Any]]
Connection = AsyncConnection[DictRow]

_JOB = "select * from jobs where id = %(job)s"
_TASKS = """
select id, kind, status, attempt, depends_on, root, inputs, confidence,
    failure ->> 'message' as failure, finished_at is not null as has_ended
from tasks where job_id = %(job)s order by id"""
_REVISIONS = """
select scope, cause, failed_task, added, superseded from plan_changes
where job_id = %(job)s order by scope, added, superseded"""
_ENTITIES = """
select task_id, name, type, value, confidence from entities
where job_id = %(job)s order by task_id, name"""
_EVIDENCE = """
select e.task_id, e.entity, e.quote, e.quote = substr(
    s.text, e.start_char + 1, e.end_char - e.start_char) as resolves
from evidence e left join sources s on s.id = e.source_id
where e.job_id = %(job)s order by e.task_id, e.entity, e.quote"""
_EVENTS = """
    select seq, kind, task_id, case kind when 'task.started' then (facts->>'attempt')::int end as attempt
    from events where job_id = %(job)s order by seq
"""
_REPORT = "select body from reports where job_id = %(job)s"
_MODEL_CALLS = """
select id, task_id, attempt, part, role as asked, request, status, sends, reused, finished_at,
    input_tokens + output_tokens as tokens, null::bigint as repeated_call_id, md5(response) as answer
from model_calls where job_id = %(job)s order by id"""
_TOOL_CALLS = """
select id, task_id, attempt, part, 'tool' as asked, request, status, sends, reused, finished_at,
    0 as tokens, repeated_call_id, md5(response) as answer
from tool_calls where job_id = %(job)s order by id"""


@dataclass(frozen=True)
class RecordedCall:
    """A row of the ledger."""

    content: RequestContent
    task_id: str
    attempt: int
    part: str
    status: str
    sends: int
    reused: int
    """How often its answer was taken from the ledger."""
    tokens: int
    finished_at: datetime | None
    is_copy: bool
    """Whether the answer was taken from an earlier call of the job, so that nothing was sent."""
    answer: str | None
    """A hash of what came back."""

    @property
    def is_answered(self) -> bool:
        return self.status == "done"

    @property
    def name(self) -> str:
        where = f" of {self.task_id}#{self.attempt}" if self.task_id else ""
        return f"{self.content.asked} call {self.part}{where}".replace("  ", " ")


@dataclass(frozen=True)
class RecordedEvent:
    """An entry of the job's log."""

    seq: int
    kind: str
    task_id: str
    attempt: int | None
    """The attempt that began; None in every other entry."""


@dataclass(frozen=True)
class ComparableOutcome:
    """What must be the same, whatever was killed."""

    ending: tuple[str, str | None]
    answer: object
    memory: object
    plan: Any
    """The tasks, and the changes of the plan."""
    evidence: object
    report: object
    calls: Counter[str]
    """Answered calls by role, and of the tool."""
    tokens: int


@dataclass(frozen=True)
class JobRecord:
    """All that is stored of one job."""

    job: dict[str, Any]
    tasks: Rows
    revisions: Rows
    evidence: Rows
    events: list[RecordedEvent]
    calls: list[RecordedCall]
    story: ComparableOutcome

    @property
    def seconds(self) -> float:
        """From submission to the end."""
        started, ended = self.job["created_at"], self.job["finished_at"]
        return float((ended - started).total_seconds())


async def load_record(books: Connection, job_id: str) -> JobRecord:
    """All that is stored of the job now."""
    (job,) = await _rows(books, _JOB, job_id)
    tasks, revisions = await _rows(books, _TASKS, job_id), await _rows(books, _REVISIONS, job_id)
    evidence = await _rows(books, _EVIDENCE, job_id)
    found = await load_calls(books, job_id)
    answered = [call for call in found if call.is_answered]
    story = ComparableOutcome(
        ending=(job["status"], job["stop_reason"]),
        answer=job["answer"],
        memory=await _rows(books, _ENTITIES, job_id),
        plan=_unmarked([tasks, revisions]),
        evidence=evidence,
        report=_told(await _rows(books, _REPORT, job_id)),
        calls=Counter(call.content.asked for call in answered),
        tokens=sum(call.tokens for call in answered),
    )
    events = [RecordedEvent(**row) for row in await _rows(books, _EVENTS, job_id)]
    return JobRecord(job, tasks, revisions, evidence, events, found, story)


async def load_calls(books: Connection, job_id: str) -> list[RecordedCall]:
    """The job's calls as the ledger has them now."""
    model, tool = await _rows(books, _MODEL_CALLS, job_id), await _rows(books, _TOOL_CALLS, job_id)
    return [_call(row) for row in model + tool]


async def _rows(books: Connection, query: LiteralString, job_id: str) -> Rows:
    return await (await books.execute(query, {"job": job_id})).fetchall()


def _call(row: dict[str, Any]) -> RecordedCall:
    request = json.loads(row["request"])
    is_tool = row["asked"] == "tool"
    return RecordedCall(
        content=RequestContent.of_tool(_argument(request))
        if is_tool
        else RequestContent.of_model(row["asked"], request["messages"]),
        task_id=row["task_id"],
        attempt=row["attempt"],
        part=row["part"],
        status=row["status"],
        sends=row["sends"],
        reused=row["reused"],
        tokens=row["tokens"],
        finished_at=row["finished_at"],
        is_copy=row["repeated_call_id"] is not None,
        answer=row["answer"],
    )


def _argument(request: dict[str, Any]) -> str:
    """The argument that says whose call this is: the lab's tools name it differently."""
    return str(next(request[name] for name in ("key", "query", "text") if name in request))


def _told(reports: Rows) -> object:
    """The report's sentences, gaps and quotes, without the numbers of rows."""
    named = ("answer", "summary", "findings", "gaps")
    return [
        {name: row["body"][name] for name in named}
        | {"quotes": [cited["quote"] for cited in row["body"]["citations"]]}
        for row in reports
    ]


def _unmarked(rows: object) -> object:
    """The rows as any job of the same shape has them."""
    return json.loads(without_job_mark(json.dumps(rows)))
