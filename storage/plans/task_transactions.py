"""Begin a task, and store its outcome, evidence, receipt and event; one SQL statement each."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import NotFound
from holdfast.models.evidence.evidence import LocatedQuote
from holdfast.models.jobs.activity_orders import TaskOrder
from holdfast.models.jobs.event_mark import EventMark
from holdfast.models.jobs.job_state import TaskReceipt
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.attempt_results import EntityValue
from holdfast.models.tasks.task_failure import Failure
from holdfast.models.text.storable_text import storable_json, storable_text
from holdfast.models.wire.event_kinds import EventKind, task_end_event
from holdfast.storage.core.database import Database, refused_write_error
from holdfast.storage.core.hot_path_pool import StatementValue
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.ledger.call_statements import SETTLED
from holdfast.storage.plans.task_queries import task_from_row

_STATEMENTS = load_statements(__file__)
_BEGIN: LiteralString = _STATEMENTS["begin_task"]
_TASK_STATUS: LiteralString = _STATEMENTS["task_status"]
_FINISH: LiteralString = "with " + SETTLED + _STATEMENTS["finish_task"]

EntitiesByTask = Mapping[str, Mapping[str, JsonValue]]
"""Entities by task: `{"T1": {"actress_name": "..."}}`."""


@dataclass(frozen=True)
class RunningTask:
    """A running task with the entities of its dependencies."""

    task: Task
    memory: EntitiesByTask


@dataclass(frozen=True)
class TaskAttemptOutcome:
    """The outcome of an attempt at a task."""

    task: Task
    receipt: TaskReceipt
    kept: tuple[EntityValue, ...] = ()
    failure: Failure | None = None
    read: tuple[SourcePassage, ...] = ()
    found: tuple[LocatedQuote, ...] = ()
    trace: Mapping[str, Any] | None = None


async def begin_task(db: Database, order: TaskOrder, key: str) -> RunningTask | TaskReceipt:
    """Mark the task as running, or return the existing receipt under `key`.

    Raises:
        NotFound: there is no such job or task.
        StaleEpoch: a newer run has taken over.
        StateBehind: PostgreSQL lacks what the run has seen.
        StorageAway: PostgreSQL does not answer.
    """
    started: dict[str, StatementValue] = {
        "kind": EventKind.TASK_STARTED.value,
        "attempt": order.attempt,
    }
    row = await db.row(_BEGIN, started | _task_key_values(order, key))
    if row.receipt is not None:
        return TaskReceipt.model_validate(row.receipt)
    if row.held is None:
        raise refused_write_error(order.job_id, row.epoch, order.epoch)
    if row.id is None:
        return await _why_not_begun(db, order, key)
    return RunningTask(task_from_row(row), row.memory or {})


async def _why_not_begun(db: Database, order: TaskOrder, key: str) -> TaskReceipt:
    """Return why the task did not begin: another attempt has finished, or the plan has changed."""
    row = await db.row(_TASK_STATUS, _task_key_values(order, key))
    if row.receipt is not None:
        return TaskReceipt.model_validate(row.receipt)
    if row.status is None:
        raise NotFound(f"job {order.job_id!r} has no task {order.task_id!r}")
    status = TaskStatus(row.status)
    return TaskReceipt(task_id=order.task_id, attempt=order.attempt, status=status)


async def finish_task(
    ledger: CallLedger, order: TaskOrder, key: str, attempt: TaskAttemptOutcome
) -> TaskReceipt:
    """Store the outcome of an attempt with its receipt and event, all or nothing.

    Returns the stored receipt. A failed attempt stores no entities. Deferred answers of the call
    ledger are written even if the outcome is refused, since they were paid for.

    Raises:
        NotFound: there is no such job.
        StaleEpoch: a newer run has taken over.
        StateBehind: PostgreSQL lacks what the run has seen.
        Overtaken: the attempt ran twice, and the other outcome was stored first.
        StorageAway: PostgreSQL does not answer.
    """
    values = _task_key_values(order, key) | _outcome_values(attempt) | _finding_values(attempt)
    values["attempt"] = order.attempt
    waiting = ledger.deferred_values()
    row = await ledger.db.row(_FINISH, values | waiting)
    ledger.settled(waiting)
    if row.held is None:
        raise refused_write_error(order.job_id, row.epoch, order.epoch)
    newest = EventMark(number=row.held, at=row.at)
    return attempt.receipt.model_copy(update={"seen": newest})


def _task_key_values(order: TaskOrder, key: str) -> dict[str, StatementValue]:
    return {
        "job": order.job_id,
        "epoch": order.epoch,
        "seen": order.seen.number if order.seen else 0,
        "seen_at": order.seen.at.isoformat() if order.seen else "-infinity",
        "task": order.task_id,
        "key": key,
    }


def _outcome_values(attempt: TaskAttemptOutcome) -> dict[str, StatementValue]:
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
        "answer": storable_json(attempt.kept[0].value) if is_answer else None,
        "kind": task_end_event(has_failed=failure is not None).value,
        "facts": storable_json(facts),
        "status": status,
        "confidence": confidence,
        "worked_s": attempt.receipt.seconds,
        "failure": storable_json(failure.model_dump(mode="json")) if failure else None,
        "trace": None if attempt.trace is None else storable_json(dict(attempt.trace)),
        "body": storable_json(attempt.receipt.model_dump(mode="json")),
    }


def _finding_values(attempt: TaskAttemptOutcome) -> dict[str, StatementValue]:
    kept = [] if attempt.failure else attempt.kept
    return {
        "read": storable_json(_sources(attempt.read)),
        "found": storable_json([_evidence(each) for each in attempt.found]),
        "kept": storable_json([entity.model_dump(mode="json") for entity in kept]),
    }


def _sources(read: Iterable[SourcePassage]) -> list[JsonValue]:
    """Return the passages, each place once: an upsert cannot update a row twice."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for passage in read:
        if passage.text:
            place = source_key(passage)
            rows[tuple(place.values())] = place | {
                "title": passage.title or passage.address,
                "heading": passage.heading,
                "published": passage.date,
                "tool": passage.tool,
                "text": passage.text,
                "end_char": passage.end,
            }
    return list(rows.values())


def source_key(passage: SourcePassage) -> dict[str, Any]:
    """Return the key of a source: hash of the stored text, address, offset and server."""
    return {
        "sha256": hashlib.sha256(storable_text(passage.text).encode()).hexdigest(),
        "address": storable_text(passage.address),
        "start_char": passage.start,
        "via": passage.via,
    }


def _evidence(found: LocatedQuote) -> dict[str, Any]:
    return source_key(found.passage) | {
        "entity": found.entity,
        "quote_start": found.start,
        "quote_end": found.end,
        "quote": found.quote,
    }
