"""A task's two transactions, each one statement: it begins, and all that it came to is stored."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

from pydantic import JsonValue

from models.errors import NotFound
from models.evidence import Located
from models.failures import Failure
from models.orders import TaskOrder
from models.plan import Expected, Task, TaskStatus
from models.state import TaskReceipt
from models.tools import ReadPassage
from planning.kpis import Candidate
from planning.values import storable_text
from storage.constant import Value, as_json
from storage.database import Database, refusal
from storage.ledger import Ledger
from storage.ledger_statements import SETTLED
from storage.plans import task_of

# `held` locks the job's row, so a job's writes come one by one and its events have no gaps; where
# it finds no row of this epoch, nothing that draws on it is written.
#
# A beginning is flushed to disk with the commit that announces the first call, which is waited for.
# Lost with the server before that, it is as if the task had not begun: no call has left yet.
_BEGIN: LiteralString = """
with kept as (select body from receipts where job_id = %(job)s and key = %(key)s),
held as (
    update jobs set last_event = last_event + 1
    where id = %(job)s and epoch = %(epoch)s and not exists (select from kept)
    returning last_event),
noted as (
    insert into events (job_id, seq, kind, task_id, facts)
    select %(job)s, last_event, 'task.started', %(task)s, '{}' from held),
begun as (
    update tasks set status = 'running', started_at = now() from held
    where tasks.job_id = %(job)s and tasks.id = %(task)s and status in ('pending', 'running')
    returning id, kind, description, criteria, tool, agent, parent, inputs, expects, depends_on,
        priority, include_context, status)
select (select body from kept) as receipt, (select last_event from held) as held,
    (select epoch from jobs where jobs.id = %(job)s) as epoch, begun.*,
    (select jsonb_object_agg(task_id, found) from (
        select task_id, jsonb_object_agg(name, value) as found from entities
        where job_id = %(job)s and task_id = any(begun.depends_on) group by task_id
    ) as by_task) as memory,
    set_config('synchronous_commit', 'off', true) as flushed_later
from (values (1)) as one left join begun on true
"""

_STANDING: LiteralString = """
select (select body from receipts where job_id = %(job)s and key = %(key)s) as receipt,
    (select status from tasks where job_id = %(job)s and id = %(task)s) as status,
    %(epoch)s::bigint as asked_at
"""

# A source that another transaction is storing now is waited for and shared: the update is there
# because `do nothing` would not give its id. Sorted, so that two jobs cannot wait for each other.
_FINISH: LiteralString = (
    "with "  # noqa: S608 - constants, both
    + SETTLED
    + """,
held as (
    update jobs set last_event = last_event + 1, answer = coalesce(%(answer)s::jsonb, answer)
    where id = %(job)s and epoch = %(epoch)s
    returning last_event),
noted as (
    insert into events (job_id, seq, kind, task_id, facts)
    select %(job)s, last_event, %(kind)s, %(task)s, %(facts)s::jsonb from held),
ended as (
    update tasks set status = %(status)s, confidence = %(confidence)s,
        failure = %(failure)s::jsonb, trace = %(trace)s::jsonb, finished_at = now()
    from held where tasks.job_id = %(job)s and tasks.id = %(task)s),
placed as (
    insert into sources (sha256, address, via, title, heading, published, tool, text, start_char,
        end_char)
    select r.* from held, jsonb_to_recordset(%(read)s::jsonb) as r(
        sha256 text, address text, via text, title text, heading text, published text, tool text,
        text text, start_char int, end_char int)
    order by r.sha256, r.address, r.start_char, r.via
    on conflict (sha256, address, start_char, via) do update set address = excluded.address
    returning id, sha256, address, start_char, via),
shown as (
    insert into evidence (job_id, task_id, attempt, entity, source_id, start_char, end_char, quote)
    select %(job)s, %(task)s, %(attempt)s, f.entity, placed.id, f.quote_start, f.quote_end, f.quote
    from held, jsonb_to_recordset(%(found)s::jsonb) as f(
        sha256 text, address text, start_char int, via text, entity text, quote_start int,
        quote_end int, quote text)
    left join placed using (sha256, address, start_char, via)),
remembered as (
    insert into entities (job_id, task_id, name, type, description, value, confidence)
    select %(job)s, %(task)s, e.name, e.type, e.description, e.value, e.confidence
    from held, jsonb_to_recordset(%(kept)s::jsonb) as e(
        name text, type text, description text, value jsonb, confidence float8)
    on conflict do nothing),
receipt as (
    insert into receipts (job_id, key, body) select %(job)s, %(key)s, %(body)s::jsonb from held)
select (select last_event from held) as held,
    (select epoch from jobs where jobs.id = %(job)s) as epoch
"""
)

Memory = Mapping[str, Mapping[str, JsonValue]]
"""Entities by task: `{"T1": {"actress_name": "..."}}`."""


@dataclass(frozen=True)
class Begun:
    """A task that runs now, with the entities of those it depends on."""

    task: Task
    memory: Memory


@dataclass(frozen=True)
class Attempt:
    """What an attempt at a task came to."""

    task: Task
    receipt: TaskReceipt
    kept: tuple[Candidate, ...] = ()
    failure: Failure | None = None
    read: tuple[ReadPassage, ...] = ()
    found: tuple[Located, ...] = ()
    trace: Mapping[str, Any] | None = None


async def begin(db: Database, order: TaskOrder, key: str) -> Begun | TaskReceipt:
    """Mark the task as running; or, with nothing written, the receipt that is there under `key`.

    Raises:
        NotFound: there is no such job or task.
        StaleEpoch: a newer run has taken over.
        StorageAway: PostgreSQL does not answer.
    """
    row = await db.row(_BEGIN, _place(order, key))
    if row.receipt is not None:
        return TaskReceipt.model_validate(row.receipt)
    if row.held is None:
        raise refusal(order.job_id, row.epoch, order.epoch)
    if row.id is None:
        return await _not_begun(db, order, key)
    return Begun(task_of(row), row.memory or {})


async def _not_begun(db: Database, order: TaskOrder, key: str) -> TaskReceipt:
    """What stands in the way: another attempt that just finished, or the plan has moved on."""
    row = await db.row(_STANDING, _place(order, key))
    if row.receipt is not None:
        return TaskReceipt.model_validate(row.receipt)
    if row.status is None:
        raise NotFound(f"job {order.job_id!r} has no task {order.task_id!r}")
    status = TaskStatus(row.status)
    return TaskReceipt(task_id=order.task_id, attempt=order.attempt, status=status)


async def finish(ledger: Ledger, order: TaskOrder, key: str, attempt: Attempt) -> None:
    """Store what the attempt came to, its receipt and its event: all, or nothing.

    A failed attempt leaves no entities. Answers that wait in the ledger are written even where
    the rest is refused: they were paid for.

    Raises:
        NotFound: there is no such job.
        StaleEpoch: a newer run has taken over.
        Overtaken: the same attempt was worked twice, and the other one was stored.
        StorageAway: PostgreSQL does not answer.
    """
    values = _place(order, key) | _ending(attempt) | _findings(attempt)
    values["attempt"] = order.attempt
    waiting = ledger.unsettled()
    row = await ledger.db.row(_FINISH, values | waiting)
    ledger.settled(waiting)
    if row.held is None:
        raise refusal(order.job_id, row.epoch, order.epoch)


def _place(order: TaskOrder, key: str) -> dict[str, Value]:
    return {"job": order.job_id, "epoch": order.epoch, "task": order.task_id, "key": key}


def _ending(attempt: Attempt) -> dict[str, Value]:
    status, confidence = attempt.receipt.status.value, attempt.receipt.confidence
    failure = attempt.failure
    facts: dict[str, JsonValue] = {"confidence": confidence}
    if failure:
        facts |= {
            "failure": failure.first_line,
            "class": failure.failure_class.value,
            "remedy": failure.remedy.value,
        }
    if note := (attempt.trace or {}).get("note"):
        facts["note"] = note
    is_answer = attempt.task.is_final and not attempt.task.parent and not failure
    return {
        "answer": as_json(attempt.kept[0].value) if is_answer else None,
        "kind": f"task.{status}",
        "facts": as_json(facts),
        "status": status,
        "confidence": confidence,
        "failure": as_json(failure.model_dump(mode="json")) if failure else None,
        "trace": None if attempt.trace is None else as_json(dict(attempt.trace)),
        "body": as_json(attempt.receipt.model_dump(mode="json")),
    }


def _findings(attempt: Attempt) -> dict[str, Value]:
    declared = {entity.name: entity for entity in attempt.task.expects}
    kept = [] if attempt.failure else attempt.kept
    return {
        "read": as_json(_sources(attempt.read)),
        "found": as_json([_evidence(each) for each in attempt.found]),
        "kept": as_json([_entity(declared.get(each.name), each) for each in kept]),
    }


def _sources(read: Iterable[ReadPassage]) -> list[JsonValue]:
    """The passages, once per place: an upsert cannot take a row twice."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for passage in read:
        if passage.text:
            place = _source(passage)
            rows[tuple(place.values())] = place | {
                "title": passage.title or passage.address,
                "heading": passage.heading,
                "published": passage.date,
                "tool": passage.tool,
                "text": passage.text,
                "end_char": passage.end,
            }
    return list(rows.values())


def _source(passage: ReadPassage) -> dict[str, Any]:
    """What a source is known by: its text's hash as stored, its place, and whose word that is."""
    return {
        "sha256": hashlib.sha256(storable_text(passage.text).encode()).hexdigest(),
        "address": storable_text(passage.address),
        "start_char": passage.start,
        "via": passage.via,
    }


def _evidence(found: Located) -> dict[str, Any]:
    return _source(found.passage) | {
        "entity": found.entity,
        "quote_start": found.start,
        "quote_end": found.end,
        "quote": found.quote,
    }


def _entity(declared: Expected | None, kept: Candidate) -> dict[str, Any]:
    return {
        "name": kept.name,
        "type": declared.type.value if declared else "string",
        "description": declared.description if declared else "",
        "value": kept.value,
        "confidence": min(max(kept.confidence, 0.0), 1.0),
    }
