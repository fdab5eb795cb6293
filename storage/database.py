"""The connection pool, and the one way to write to a job: locked, fenced, with its events."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from pydantic import JsonValue
from sqlalchemy import Row, insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from models.errors import (
    BadConfiguration,
    HoldfastError,
    NotFound,
    Overtaken,
    StaleEpoch,
    StorageAway,
)
from models.tables import events, jobs, receipts
from storage.constant import ConstantStatements, Value, as_json

_AWAY_STATES = frozenset({"08", "40", "53", "57"})
"""Classes of SQLSTATE: connection, rollback, resources, operator (PostgreSQL, appendix A)."""

_HELD = tuple(
    jobs.c[name]
    for name in (
        "epoch", "run_id", "status", "last_event", "preset", "model", "started_at",
    )
)  # fmt: skip


@dataclass(frozen=True)
class NewEvent:
    """An event before it has its number."""

    kind: str
    task_id: str
    facts: dict[str, JsonValue]


@dataclass
class JobWrite:
    """One transaction on one job, whose row it has locked."""

    connection: AsyncConnection
    job_id: str
    held: Row[Any]
    """The job's own row as it was when it was locked: the columns of `_HELD`."""
    events: list[NewEvent] = field(default_factory=list)

    async def set(self, **values: object) -> None:
        """Change the job's own row."""
        await self.connection.execute(update(jobs).where(jobs.c.id == self.job_id).values(values))

    def event(self, kind: str, task_id: str = "", **facts: JsonValue) -> None:
        """Append to the job's log; numbered without gaps when the transaction commits."""
        self.events.append(NewEvent(kind, task_id, facts))


class Database:
    """PostgreSQL as the rest of Holdfast sees it."""

    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        self.engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=30,
            # A restarted server leaves dead connections behind; a ping costs 0.1 ms.
            pool_pre_ping=True,
            pool_use_lifo=True,
            json_serializer=as_json,
            # What is worked on must not be in an error's text, which goes to logs and screens.
            hide_parameters=True,
        )
        self._constant = ConstantStatements(url, connections=pool_size)
        self._outage = _Outage()

    @property
    def away_since(self) -> datetime | None:
        """Since when PostgreSQL has not answered, as far as was seen; None while it answers."""
        return self._outage.since

    async def close(self) -> None:
        await self._constant.close()
        await self.engine.dispose()

    async def row(self, statement: str, values: Mapping[str, Value], *, after: str = "") -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        """The first row of a constant statement, which is a transaction of its own.

        `after` is a statement that comes before it in that transaction, such as one that locks.
        The way of what every task does; the rest goes through SQLAlchemy. See docs/decisions/0002.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        with _translated(self._outage):
            return await self._constant.row(statement, values, after=after)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection for queries.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        with _translated(self._outage):
            async with self.engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that belongs to no job, committed at the end.

        Raises:
            StorageAway: PostgreSQL does not answer.
        """
        with _translated(self._outage):
            async with self.engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def job(self, job_id: str, epoch: int | None = None) -> AsyncIterator[JobWrite]:
        """A transaction on one job; its row is locked, so a job's writes come one by one.

        `epoch` is that of the caller's workflow run; None skips the fence (for the client).

        Raises:
            NotFound: there is no such job.
            StaleEpoch: a newer run has taken over.
            StorageAway: PostgreSQL does not answer.
        """
        async with self.writing() as connection:
            row = (
                await connection.execute(
                    select(*_HELD).where(jobs.c.id == job_id).with_for_update()
                )
            ).one_or_none()
            if row is None or (epoch is not None and row.epoch != epoch):
                raise refusal(job_id, None if row is None else row.epoch, epoch)
            write = JobWrite(connection, job_id, row)
            yield write
            await _append(write)


def refusal(job_id: str, at: int | None, epoch: int | None) -> HoldfastError:
    """Why a job takes no write from a run of `epoch`: it is `at` another, or not there (None)."""
    if at is None:
        return NotFound(f"there is no job {job_id!r}; `holdfast list` shows those there are")
    return StaleEpoch(f"job {job_id!r} is at epoch {at}, this run at {epoch}")


async def _append(write: JobWrite) -> None:
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
    """Since when PostgreSQL has been away, if it is."""

    since: datetime | None = None

    def begin(self) -> datetime:
        if self.since is None:
            self.since = datetime.now(UTC)
        return self.since


class _translated:  # noqa: N801 - reads as a verb where it is used
    """Turns what the driver says into our errors, where it means something to callers."""

    def __init__(self, outage: _Outage) -> None:
        self._outage = outage

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._outage.since = None
        driver = getattr(error, "orig", error)
        if isinstance(driver, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            raise BadConfiguration(
                "the database has not the schema of this release; run `holdfast up`, or "
                "`python -m storage.migrate` for a database of your own"
            ) from error
        if isinstance(driver, psycopg.errors.UniqueViolation) and _is_receipt(driver):
            raise Overtaken(
                "another attempt was stored first", after=timedelta(milliseconds=1)
            ) from error
        if _is_away(error, driver):
            # The driver's text can hold the address; it never holds the password.
            reason = str(driver).strip().splitlines()[:1]
            raise StorageAway(
                f"PostgreSQL does not answer: {' '.join(reason)}", since=self._outage.begin()
            ) from error


def _is_receipt(error: psycopg.errors.UniqueViolation) -> bool:
    """Whether the work was done twice, as by a worker that was cut off and came back."""
    return error.diag.table_name == receipts.name


def _is_away(error: BaseException | None, driver: object) -> bool:
    """Whether a connection was lost or refused, or the server is shutting down or overloaded.

    Not every operational error is one: a value too large for an index stays too large.
    """
    if isinstance(error, PoolTimeout):
        return True
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    if not isinstance(driver, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = getattr(driver, "sqlstate", None)
    return state is None or state[:2] in _AWAY_STATES
