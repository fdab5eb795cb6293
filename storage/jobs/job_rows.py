"""Submit, load and list jobs; begin a workflow run; end a job with a stop reason."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Row, Text, and_, func, literal_column, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.errors import BadInput, NotFound, RequestKeyTaken
from holdfast.models.jobs.follow_up import FollowUp
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.jobs.job_fork import Fork
from holdfast.models.jobs.job_record import (
    FINAL_JOB_STATUSES,
    Job,
    JobRequest,
    JobStatus,
    StopReason,
)
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.text.storable_text import storable_text
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.named_statements import load_statements
from holdfast.storage.core.tables.call_tables import model_calls, tool_calls
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.questions.question_rows import withdraw_open_questions

_STATEMENTS = load_statements(__file__)


Preparation: TypeAlias = Callable[[JobTransaction], Awaitable[None]]
"""Writes what a new job begins with, in the transaction that stores the job."""


async def submit_job(
    db: Database,
    job_id: str,
    request: JobRequest,
    key: str | None,
    prepare: Preparation | None = None,
    *,
    key_id: str = "",
    asked: JsonValue = None,
) -> tuple[str, bool]:
    """Store a job and its first event; return its id and whether it is new.

    The same `key` with the same request returns the existing job. `asked` is what a person asked,
    if the request is more: a fork of a running job also names what had not ended by then.
    `prepare` writes what a new job begins with, such as the plan and the results of a fork.
    `key_id` is the API key of the request, whose quota counts the job's calls.

    Raises:
        RequestKeyTaken: the key was used before, for another request.
    """
    row = _row(job_id, request, key) | {"key_id": key_id}
    if asked is not None:
        row["request_hash"] = canonical_hash(asked)
    async with db.new_job(row) as write:
        if write is not None:
            write.event(EventKind.JOB_SUBMITTED, preset=request.preset, model=request.model)
            if prepare is not None:
                await prepare(write)
            return job_id, True
    return await _existing_job_id(db, key, row), False


async def _existing_job_id(db: Database, key: str | None, row: dict[str, Any]) -> str:
    query = select(jobs.c.id, jobs.c.request_hash).where(jobs.c.request_key == key)
    async with db.reading() as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise BadInput(f"job id {row['id']!r} is taken")
    if found.request_hash != row["request_hash"]:
        # The name of an API key's owner stands before the caller's own name.
        shown = (key or "").removeprefix(f"{row['owner']}/")
        raise RequestKeyTaken(
            f"the request key {shown!r} belongs to job {found.id!r}, which asked something else; "
            "take another key"
        )
    return str(found.id)


def _row(job_id: str, request: JobRequest, key: str | None) -> dict[str, Any]:
    content = request.model_dump(mode="json")
    return {
        "id": job_id,
        "question": request.question,
        "preset": request.preset,
        "model": request.model,
        "strategy": content["strategy"],
        "collection": request.collection,
        "servers": list(request.servers),
        "owner": request.owner,
        "follow_up": content["follow_up"],
        "fork": content["fork"],
        "config_hash": config_hash(request.preset, request.model, content["strategy"]),
        "request_key": key,
        # Default values are left out, so that a key outlives new settings of a release.
        "request_hash": canonical_hash(request.model_dump(mode="json", exclude_defaults=True)),
        "status": JobStatus.QUEUED.value,
    }


def config_hash(preset: str, model: str, strategy: JsonValue) -> str:
    """Return the hash of a job's configuration (WAVE-13)."""
    return canonical_hash({"preset": preset, "model": model, "strategy": strategy})


async def load_job(db: Database, job_id: str) -> Job:
    """Return the job.

    Raises:
        NotFound: there is no job of that id.
    """
    async with db.reading() as connection:
        row = (await connection.execute(select(jobs).where(jobs.c.id == job_id))).one_or_none()
    if row is None:
        raise _missing_job(job_id)
    return _job(row)


async def load_job_status(db: Database, job_id: str) -> JobStatus:
    """Return the status of the job, for what asks many times a second.

    Raises:
        NotFound: there is no job of that id.
    """
    async with db.reading() as connection:
        status = await connection.scalar(select(jobs.c.status).where(jobs.c.id == job_id))
    if status is None:
        raise _missing_job(job_id)
    return JobStatus(status)


def _missing_job(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id!r}; `holdfast list` shows those there are")


async def job_ids_with_prefix(db: Database, prefix: str, limit: int) -> list[str]:
    """The ids of jobs that begin with the prefix, newest first; the exact id alone if it exists."""
    is_exact = jobs.c.id == prefix
    query = (
        select(jobs.c.id, is_exact.label("is_exact"))
        .where(jobs.c.id.startswith(prefix, autoescape=True))
        .order_by(is_exact.desc(), jobs.c.created_at.desc(), jobs.c.id)
        .limit(limit)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    exact = [str(row.id) for row in rows if row.is_exact]
    return exact or [str(row.id) for row in rows]


async def strategy_of(write: JobTransaction) -> Strategy:
    """Return the settings of the transaction's job."""
    query = select(jobs.c.strategy).where(jobs.c.id == write.job_id)
    return _strategy((await write.connection.execute(query)).scalar_one())


@asynccontextmanager
async def unchanged_job(db: Database, job: Job) -> AsyncIterator[JobTransaction]:
    """Open a transaction on a job that has not changed since it was read.

    Raises:
        BadInput: the job ended meanwhile, or another person changed it first.
    """
    async with db.job(job.id) as write:
        if (write.held.status, write.held.epoch) != (job.status.value, job.epoch):
            raise BadInput(
                f"job {job.id} has just changed and is {write.held.status}; "
                f"`holdfast show {job.id}` shows it"
            )
        yield write


async def load_newest_jobs(db: Database, which: JobFilter) -> list[Job]:
    """Return the jobs of the filter, the newest first.

    Raises:
        NotFound: there is no job `which.after`.
    """
    query = select(jobs).order_by(jobs.c.created_at.desc(), jobs.c.id).limit(which.limit)
    wanted = {"status": which.status, "preset": which.preset, "owner": which.owner}
    query = query.where(
        *(jobs.c[name] == value for name, value in wanted.items() if value is not None)
    )
    if which.words:
        query = query.where(_has_words(storable_text(which.words)))
    async with db.reading() as connection:
        if which.after is not None:
            query = query.where(await _is_older(connection, which.after))
        return [_job(row) for row in (await connection.execute(query)).all()]


def _has_words(words: str) -> ColumnElement[bool]:
    """True for jobs whose question or answer contains the text, in any case."""
    answer = func.coalesce(jobs.c.answer.op("#>>", return_type=Text())(literal_column("'{}'")), "")
    return jobs.c.question.icontains(words, autoescape=True) | answer.icontains(
        words, autoescape=True
    )


async def _is_older(connection: AsyncConnection, job_id: str) -> ColumnElement[bool]:
    """True for jobs that follow this job in a list of the newest."""
    query = select(jobs.c.created_at).where(jobs.c.id == job_id)
    created_at = (await connection.execute(query)).scalar_one_or_none()
    if created_at is None:
        raise NotFound(f"there is no job {job_id!r} that a list could continue after")
    is_later_id = and_(jobs.c.created_at == created_at, jobs.c.id > job_id)
    return or_(jobs.c.created_at < created_at, is_later_id)


async def find_job_owner(db: Database, job_id: str) -> str | None:
    """Return the owner of the job; None if there is no such job."""
    async with db.reading() as connection:
        query = select(jobs.c.owner).where(jobs.c.id == job_id)
        owner: str | None = (await connection.execute(query)).scalar_one_or_none()
    return owner


async def load_plan_revision(db: Database, job_id: str) -> int:
    """Return the number of changes that the job's plan has had.

    Raises:
        NotFound: there is no such job.
    """
    async with db.reading() as connection:
        query = select(jobs.c.plan_changes).where(jobs.c.id == job_id)
        revision: int | None = (await connection.execute(query)).scalar_one_or_none()
    if revision is None:
        raise _missing_job(job_id)
    return revision


async def begin_job_run(db: Database, job_id: str, run_id: str, after_epoch: int = 0) -> int:
    """Take over the job for a workflow run; return the run's epoch.

    The same run gets the same epoch again; another run gets the next one, and from then on every
    write of the older run is refused. An ended job does not change. The new epoch is later than
    `after_epoch`, because a PostgreSQL that was restored knows only an earlier one.
    """
    async with db.job(job_id) as write:
        row = write.held
        if row.run_id == run_id or JobStatus(row.status).is_final:
            return int(row.epoch)
        epoch = max(int(row.epoch), after_epoch) + 1
        is_paused = row.status == JobStatus.PAUSED
        await write.set(
            epoch=epoch,
            run_id=run_id,
            status=JobStatus.PAUSED.value if is_paused else JobStatus.RUNNING.value,
            started_at=func.coalesce(jobs.c.started_at, func.now()),
        )
        write.event(
            EventKind.JOB_STARTED if row.started_at is None else EventKind.JOB_TAKEN_OVER,
            epoch=epoch,
        )
        return epoch


async def store_job_end(
    write: JobTransaction,
    status: JobStatus,
    reason: StopReason,
    message: str,
    facts: Mapping[str, JsonValue] = MappingProxyType({}),
) -> None:
    """Record how the job ended, and mark calls in flight as unknown.

    `facts` are more facts of the event, which webhooks send on.
    """
    for table in (model_calls, tool_calls):
        await write.connection.execute(
            update(table)
            .where(table.c.job_id == write.job_id)
            .where(table.c.status == CallStatus.STARTED.value)
            .values(status=CallStatus.UNKNOWN.value, finished_at=func.now())
        )
    await withdraw_open_questions(write)
    await write.set(
        status=status.value, stop_reason=reason.value, message=message, finished_at=func.now()
    )
    write.event(
        EventKind.JOB_ENDED,
        status=status.value,
        reason=reason.value,
        message=message[:500],
        **facts,
    )


def _job(row: Row[Any]) -> Job:
    request = JobRequest(
        question=row.question,
        preset=row.preset,
        model=row.model,
        strategy=_strategy(row.strategy),
        collection=row.collection,
        servers=tuple(row.servers),
        owner=row.owner,
        follow_up=FollowUp.model_validate(row.follow_up) if row.follow_up else None,
        fork=Fork.model_validate(row.fork) if row.fork else None,
    )
    return Job(
        id=row.id,
        request=request,
        status=JobStatus(row.status),
        epoch=row.epoch,
        attempt=row.attempt,
        config_hash=row.config_hash,
        stop_reason=StopReason(row.stop_reason) if row.stop_reason else None,
        message=row.message,
        answer=_text(row.answer),
        depth=row.depth,
        breadth=row.breadth,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _strategy(stored: dict[str, Any]) -> Strategy:
    """Return the job's settings; settings that a later release removed are ignored."""
    known = {name: stored[name] for name in Strategy.model_fields if name in stored}
    return Strategy.model_validate_json(json.dumps(known))


def _text(answer: JsonValue) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


async def open_jobs(db: Database, clients_time: timedelta, limit: int) -> list[Job]:
    """Return the jobs that have not ended, the oldest first.

    A queued job is left out for the time that its client needs to start its workflow.
    """
    is_new = (jobs.c.status == JobStatus.QUEUED.value) & (
        jobs.c.created_at > func.now() - clients_time
    )
    query = select(jobs).where(jobs.c.status.not_in(FINAL_JOB_STATUSES), ~is_new)
    async with db.reading() as connection:
        rows = await connection.execute(query.order_by(jobs.c.created_at).limit(limit))
        return [_job(row) for row in rows]


async def count_jobs_under_way(db: Database) -> int:
    """Return how many jobs are queued or running; paused jobs do not count."""
    under_way = (JobStatus.QUEUED.value, JobStatus.RUNNING.value)
    query = select(func.count()).where(jobs.c.status.in_(under_way))
    async with db.reading() as connection:
        return int((await connection.execute(query)).scalar_one())


async def open_job_ids(db: Database, limit: int) -> list[str]:
    """Return the ids of the jobs that have not ended, the oldest first."""
    final = json.dumps(sorted(FINAL_JOB_STATUSES))
    row = await db.row(_STATEMENTS["open_job_ids"], {"final": final, "most": limit})
    return list(row.ids)
