"""Open connections and transactions; a job transaction locks its row and numbers its events."""

import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import psycopg
from pydantic import JsonValue
from sqlalchemy import ColumnElement, Row, Select, func, insert, select, true, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from holdfast.models.errors import (
    BadConfiguration,
    HoldfastError,
    NotFound,
    Overtaken,
    StaleEpoch,
    StateBehind,
    StorageAway,
)
from holdfast.models.jobs.event_mark import EventMark
from holdfast.models.text.storable_text import storable_json
from holdfast.models.wire.event_kinds import EventKind
from holdfast.storage.core.client_sessions import session_options
from holdfast.storage.core.connection_pooler import prepare_nothing_behind_pooler
from holdfast.storage.core.hot_path_pool import HotPathPool, StatementValue
from holdfast.storage.core.owner_role import act_as_owner, follow_owner_option
from holdfast.storage.core.tables.job_tables import events, jobs, receipts

_AWAY_STATES = frozenset({"08", "40", "53", "57"})
"""Classes of SQLSTATE: connection, rollback, resources, operator (PostgreSQL, appendix A)."""

_JOB_COLUMNS = tuple(
    jobs.c[name]
    for name in (
        "epoch",
        "run_id",
        "status",
        "last_event",
        "preset",
        "model",
        "started_at",
    )
)


@dataclass(frozen=True)
class NewEvent:
    """An event without its number yet."""

    kind: EventKind
    task_id: str
    facts: dict[str, JsonValue]


@dataclass
class JobTransaction:
    """One transaction on one job, whose row it has locked."""

    connection: AsyncConnection
    job_id: str
    held: Row[Any]
    """The job's row at the time of the lock: the columns of `_JOB_COLUMNS`."""
    events: list[NewEvent] = field(default_factory=list)

    async def set(self, **values: object) -> None:
        """Update the job's row."""
        await self.connection.execute(update(jobs).where(jobs.c.id == self.job_id).values(values))

    def event(self, kind: EventKind, task_id: str = "", /, **facts: JsonValue) -> None:
        """Append an event to the job's log; the commit numbers the events without gaps."""
        self.events.append(NewEvent(kind, task_id, facts))

    async def newest_event(self) -> EventMark | None:
        """Return the mark of the newest entry of the log, as this transaction leaves the log."""
        number = self.held.last_event + len(self.events)
        stored = select(events.c.at).where(events.c.job_id == self.job_id, events.c.seq == number)
        query = select(func.now()) if self.events else stored
        at = (await self.connection.execute(query)).scalar_one_or_none()
        return None if at is None else EventMark(number=number, at=at)


class Database:
    """The connections and transactions of PostgreSQL."""

    serves_owner = False
    """True of what `on_behalf_of` returns."""
    _shared: AsyncConnection | None = None
    """The open connection of all queries; None: each opens its own."""

    def __init__(self, url: str, *, pool_size: int = 10, worker: str = "") -> None:
        """Open nothing yet; by the name of its `worker`, others see whether it lives."""
        options = session_options(url, worker)
        self.engine: AsyncEngine = create_async_engine(
            url,
            connect_args=options,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=30,
            # A restarted server leaves dead connections behind; a ping costs 0.1 ms.
            pool_pre_ping=True,
            pool_use_lifo=True,
            json_serializer=storable_json,
            # Parameter values must not be in an error's text, which goes to logs and screens.
            hide_parameters=True,
        )
        prepare_nothing_behind_pooler(self.engine)
        follow_owner_option(self.engine)
        self._constant = HotPathPool(url, connections=pool_size, options=options)
        self._outage = _Outage()

    def on_behalf_of(self, owner: str) -> Self:
        """Return the database as the owner may see it, over the same connections.

        Constant statements are refused there: only workers run them, for the jobs of all owners.
        """
        owned = copy(self)
        owned.engine = act_as_owner(self.engine, owner)
        owned.serves_owner = True
        return owned

    @property
    def away_since(self) -> datetime | None:
        """Return the time since which PostgreSQL has not answered; None while it answers."""
        return self._outage.since

    @property
    def back_for_s(self) -> float:
        """The seconds since PostgreSQL answers again; infinite if it was never away."""
        return time.monotonic() - self._outage.ended_s

    async def close(self) -> None:
        await self._constant.close()
        await self.engine.dispose()

    async def row(
        self, statement: str, values: Mapping[str, StatementValue], *, after: str = ""
    ) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        """Return the first row of a constant statement, which is a transaction of its own.

        `after` is a statement that runs before in that transaction, for example to lock a row.
        Only statements of every task use this method; others use SQLAlchemy (docs/decisions/0002).

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        assert not self.serves_owner, "a constant statement would see the rows of every owner"
        with _translated_errors(self._outage):
            return await self._constant.row(statement, values, after=after)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for queries.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        with _translated_errors(self._outage):
            if self._shared is not None:
                yield self._shared
                return
            async with self.engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def shared_reading(self) -> AsyncIterator[Self]:
        """Yield the database with one connection and transaction for all queries of the block.

        All of them see what was stored when the first one began: a page that shows a task shows
        the plan change that added it.

        A query by itself takes four more round trips: the ping, the beginning, the role of an
        owner and the end. The queries run one after the other, and nothing may be awaited between
        them for long, because the connection is held.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        async with self.reading() as connection:
            if self._shared is None:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            shared = copy(self)
            shared._shared = connection  # noqa: SLF001 - a copy of this object
            yield shared

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that belongs to no job; it commits at the end of the block.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        with _translated_errors(self._outage):
            async with self.engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def job(
        self, job_id: str, epoch: int | None = None, seen: EventMark | None = None
    ) -> AsyncIterator[JobTransaction]:
        """Open a transaction on one job and lock its row, so that writes to a job are serial.

        `epoch` is the epoch of the caller's workflow run, and `seen` the newest entry of the log
        that the run has seen; None skips the check (for the client).

        Raises:
            NotFound: there is no such job.
            StaleEpoch: a newer run has taken over.
            StateBehind: PostgreSQL lacks what the run has seen.
            StorageAway: PostgreSQL does not answer.
        """
        async with self.writing() as connection:
            held: Select[Any] = select(*_JOB_COLUMNS, has_event(job_id, seen).label("has_seen"))
            locked = held.where(jobs.c.id == job_id).with_for_update(of=jobs)
            row = (await connection.execute(locked)).one_or_none()
            if row is None or (epoch is not None and row.epoch != epoch) or not row.has_seen:
                raise refused_write_error(job_id, None if row is None else row.epoch, epoch)
            write = JobTransaction(connection, job_id, row)
            yield write
            await _append_events(write)

    @asynccontextmanager
    async def new_job(self, row: Mapping[str, Any]) -> AsyncIterator[JobTransaction | None]:
        """Insert a job's row and open a transaction on it; None if its id or key is taken.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        statement = upsert(jobs).values(row).on_conflict_do_nothing().returning(*_JOB_COLUMNS)
        async with self.writing() as connection:
            added = (await connection.execute(statement)).one_or_none()
            if added is None:
                yield None
                return
            write = JobTransaction(connection, row["id"], added)
            yield write
            await _append_events(write)


def refused_write_error(job_id: str, at: int | None, epoch: int | None) -> HoldfastError:
    """Return the error for an order of a run of `epoch` to a job `at` an epoch, or unknown.

    An order of the job's own epoch is refused because PostgreSQL lacks what the run has seen.
    """
    if at is None:
        return NotFound(f"there is no job {job_id!r}; `holdfast list` shows those there are")
    if epoch is not None and at > epoch:
        return StaleEpoch(f"job {job_id!r} is at epoch {at}, this run at {epoch}")
    return StateBehind(
        f"PostgreSQL lacks work of job {job_id!r} that is done: it was restored from a backup"
    )


def has_event(job_id: str, seen: EventMark | None) -> ColumnElement[bool]:
    """Return the condition that the log of the job has this entry; true without an entry."""
    if seen is None:
        return true()
    entry = (events.c.job_id == job_id, events.c.seq == seen.number, events.c.at == seen.at)
    return select(events.c.seq).where(*entry).exists()


async def _append_events(write: JobTransaction) -> None:
    if not write.events:
        return
    rows = [
        {
            "job_id": write.job_id,
            "seq": write.held.last_event + n,
            "kind": event.kind,
            "task_id": event.task_id,
            "facts": event.facts,
        }
        for n, event in enumerate(write.events, start=1)
    ]
    await write.connection.execute(insert(events), rows)
    await write.set(last_event=rows[-1]["seq"])


@dataclass
class _Outage:
    """The time since which PostgreSQL has been unavailable, if it is."""

    since: datetime | None = None
    ended_s: float = -math.inf
    """When the last one ended, on the monotonic clock."""

    def begin(self) -> datetime:
        if self.since is None:
            self.since = datetime.now(UTC)
        return self.since

    def end(self) -> None:
        if self.since is not None:
            self.since, self.ended_s = None, time.monotonic()


class _translated_errors:  # noqa: N801 - reads as a verb where it is used
    """Translate errors of the driver into our errors."""

    def __init__(self, outage: _Outage) -> None:
        self._outage = outage

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._outage.end()
        driver = getattr(error, "orig", error)
        if isinstance(driver, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            raise BadConfiguration(
                "the database has not the schema of this release; run `holdfast up`, or "
                "`python -m holdfast.storage.core.schema_migration` for a database of your own"
            ) from error
        if isinstance(driver, psycopg.errors.UniqueViolation) and _is_receipt(driver):
            raise Overtaken(
                "another attempt was stored first", after=timedelta(milliseconds=1)
            ) from error
        if _is_away(error, driver):
            # The driver's text can contain the address, but never the password.
            reason = str(driver).strip().splitlines()[:1]
            raise StorageAway(
                f"PostgreSQL does not answer: {' '.join(reason)}", since=self._outage.begin()
            ) from error


def _is_receipt(error: psycopg.errors.UniqueViolation) -> bool:
    """True if a receipt was stored twice, for example by a worker that was cut off."""
    return error.diag.table_name == receipts.name


def _is_away(error: BaseException | None, driver: object) -> bool:
    """True if a connection was lost or refused, or the server is shutting down or overloaded.

    Not every operational error passes: a value too large for an index stays too large.
    """
    if isinstance(error, PoolTimeout):
        return True
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    if not isinstance(driver, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = getattr(driver, "sqlstate", None)
    return state is None or state[:2] in _AWAY_STATES
