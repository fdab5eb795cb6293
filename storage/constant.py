"""Constant SQL on connections of its own: each statement a transaction, each one round trip."""

import asyncio
import json
import select
from collections.abc import Mapping
from typing import Any, TypeAlias

from psycopg import AsyncConnection
from psycopg.rows import namedtuple_row
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import JsonValue

from planning.values import storable, storable_text

Value: TypeAlias = str | int | float | bool | None
"""What a statement is given; JSON goes as text, so that its null is not SQL's."""

_MOST_CONNECTIONS = 4
"""A statement takes a millisecond: more connections only prepare the same statements again."""
_PATIENCE_S = 10.0
"""How long a statement waits for those before it."""
_TRY_S = 1.0
"""How long it waits where none runs: the server is away, and whoever asked knows how to wait."""


class ConstantStatements:
    """Runs statements whose text never changes, so that PostgreSQL plans each once a connection."""

    def __init__(self, url: str, *, connections: int) -> None:
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            url.replace("+psycopg", "", 1),
            min_size=1,
            max_size=min(connections, _MOST_CONNECTIONS),
            open=False,
            timeout=_TRY_S,
            # A later request connects anew: an outage must not stretch the pauses between tries.
            reconnect_timeout=_TRY_S,
            kwargs={"autocommit": True, "row_factory": namedtuple_row, "prepare_threshold": 0},
            configure=_configure,
            check=_check_if_spoken_to,
        )
        self._running = 0

    async def close(self) -> None:
        await self._pool.close()

    async def row(self, statement: str, values: Mapping[str, Value], *, after: str = "") -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        """The first row that the statement gives, None without one; committed when this returns.

        Every statement gives columns, if only one, so that nobody has to ask whether it does.
        `after` is a statement that comes before it in the same transaction, with the same values.
        """
        if self._pool.closed:
            await self._pool.open()
        clean = {name: _clean(value) for name, value in values.items()}
        given_up = asyncio.get_running_loop().time() + _PATIENCE_S
        while True:
            try:
                return await self._row(statement, clean, after)
            except PoolTimeout:
                is_busy = self._running > 0
                if not is_busy or asyncio.get_running_loop().time() > given_up:
                    raise

    async def _row(self, statement: str, values: Mapping[str, Value], after: str) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
        async with self._pool.connection() as connection:
            self._running += 1
            try:
                if after:
                    return await _second(connection, after, statement, values)
                cursor = await connection.execute(statement, values)
                return await cursor.fetchone()
            finally:
                self._running -= 1


async def _second(
    connection: AsyncConnection[Any], first: str, second: str, values: Mapping[str, Value]
) -> Any:  # noqa: ANN401 - a named tuple of the statement's columns
    """What the second statement gives, which begins when the first has ended; sent in one go."""
    async with connection.pipeline(), connection.transaction():
        await connection.execute(first, values)
        cursor = await connection.execute(second, values)
    return await cursor.fetchone()


def as_json(value: JsonValue) -> str:
    """JSON that PostgreSQL can hold, whatever a model or a page has put into it."""
    return json.dumps(storable(value), ensure_ascii=False)


def _clean(value: Value) -> Value:
    if not isinstance(value, str) or (value.isascii() and "\x00" not in value):
        return value
    return storable_text(value)


async def _configure(connection: AsyncConnection[Any]) -> None:
    # Planning one of these statements takes longer than running it.
    await connection.execute("set plan_cache_mode = force_generic_plan")
    # By itself psycopg sizes an integer's type by its value: each mix would be prepared anew.
    connection.adapters.register_dumper(int, Int8Dumper)


async def _check_if_spoken_to(connection: AsyncConnection[Any]) -> None:
    """Asks an idle connection whether it lives only when the server has sent it something.

    A server that stops or restarts says so, or closes the socket; looking costs no round trip.

    Raises:
        psycopg.OperationalError: it is dead; the pool takes another.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    if poll.poll(0):
        await AsyncConnectionPool.check_connection(connection)
