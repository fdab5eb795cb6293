"""Run constant, prepared SQL statements on a separate pool, one round trip per statement."""

import asyncio
import select
from collections.abc import Mapping
from typing import Any, TypeAlias

from psycopg import AsyncConnection
from psycopg.rows import namedtuple_row
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from holdfast.models.text.storable_text import storable_text
from holdfast.storage.core.client_sessions import NOTICE_LOST_CLIENT
from holdfast.storage.core.connection_pooler import SERVING_PROCESS, is_pooled

StatementValue: TypeAlias = str | int | float | bool | None
"""A parameter of a statement; JSON is sent as text, so that its null is not SQL's."""

_MAX_CONNECTIONS = 4
"""A statement takes a millisecond: more connections would only prepare it again."""
_SILENCE_S = 10.0
"""How long a statement waits for a connection while no statement is answered. A busy machine takes
seconds to open a connection; only if PostgreSQL refuses one does a statement wait less."""
_CONNECT_TIMEOUT_S = 1.0
"""The time after which a waiting statement looks whether PostgreSQL has refused a connection.
Callers retry during an outage."""


class HotPathPool:
    """Run statements with a constant text, which PostgreSQL plans once per connection."""

    def __init__(
        self, url: str, *, connections: int, options: Mapping[str, str | int] | None = None
    ) -> None:
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            url.replace("+psycopg", "", 1),
            min_size=1,
            max_size=min(connections, _MAX_CONNECTIONS),
            open=False,
            timeout=_CONNECT_TIMEOUT_S,
            # A later request connects again: an outage must not stretch the pauses between tries.
            reconnect_timeout=_CONNECT_TIMEOUT_S,
            kwargs={
                "autocommit": True,
                "row_factory": namedtuple_row,
                "prepare_threshold": 0,
                **(options or {}),
            },
            configure=_configure,
            check=_check_if_readable,
        )
        self._running = 0
        self._answered_at = 0.0

    async def close(self) -> None:
        await self._pool.close()

    async def row(
        self, statement: str, values: Mapping[str, StatementValue], *, after: str = ""
    ) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        """Return the first row of the statement, or None; the transaction is committed then.

        Every statement returns at least one column. `after` is a statement that runs before in the
        same transaction, with the same values.
        """
        if self._pool.closed:
            await self._pool.open()
        clean = {
            name: storable_text(value) if isinstance(value, str) else value
            for name, value in values.items()
        }
        now = asyncio.get_running_loop().time
        begun, refused = now(), self._refused_connections()
        while True:
            try:
                row = await self._row(statement, clean, after)
            except PoolTimeout:
                silent_s = now() - max(begun, self._answered_at)
                is_refused = not self._running and self._refused_connections() > refused
                if is_refused or silent_s > _SILENCE_S:
                    raise
            else:
                self._answered_at = now()
                return row

    def _refused_connections(self) -> int:
        return self._pool.get_stats().get("connections_errors", 0)

    async def _row(self, statement: str, values: Mapping[str, StatementValue], after: str) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        async with self._pool.connection() as connection:
            self._running += 1
            try:
                if after:
                    return await _execute_both(connection, after, statement, values)
                cursor = await connection.execute(statement, values)
                return await cursor.fetchone()
            finally:
                self._running -= 1


async def _execute_both(
    connection: AsyncConnection[Any], first: str, second: str, values: Mapping[str, StatementValue]
) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
    """Return the result of the second of two statements, which are sent in one round trip."""
    async with connection.pipeline(), connection.transaction():
        await connection.execute(first, values)
        cursor = await connection.execute(second, values)
    return await cursor.fetchone()


async def _configure(connection: AsyncConnection[Any]) -> None:
    # Not prepared: behind a pooler, another connection may have prepared the same name there.
    cursor = await connection.execute(SERVING_PROCESS, prepare=False)
    row = await cursor.fetchone()
    if row is not None and is_pooled(connection, row[0]):
        connection.prepare_threshold = None
    else:
        # Planning one of these statements takes longer than running it.
        await connection.execute("set plan_cache_mode = force_generic_plan")
        await connection.execute(NOTICE_LOST_CLIENT, prepare=False)
    # psycopg picks an integer type by value: each mix of types would be prepared separately.
    connection.adapters.register_dumper(int, Int8Dumper)


async def _check_if_readable(connection: AsyncConnection[Any]) -> None:
    """Check an idle connection only if the server has sent something on it.

    A server that stops sends a message or closes the socket; looking costs no round trip.

    Raises:
        psycopg.OperationalError: the connection is dead; the pool takes another.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)
