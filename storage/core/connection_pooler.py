"""Notice a connection pooler such as PgBouncer, behind which a session has no state of its own.

In transaction mode, each transaction may run on another connection to PostgreSQL: a statement that
one transaction prepared is unknown to the next, and a `set` reaches strangers. PostgreSQL tells a
client the process that serves it, and a pooler makes that number up. So the number tells them
apart, whatever the pooler is, and no setting is needed.
"""

from collections.abc import Mapping

import psycopg
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry

from holdfast.storage.core.client_sessions import NOTICE_LOST_CLIENT

WITHOUT_PREPARING: Mapping[str, None] = {"prepare_threshold": None}
"""For connections that run few statements: they never prepare one."""
SERVING_PROCESS = "select pg_backend_pid()"


def is_pooled(connection: psycopg.Connection | psycopg.AsyncConnection, process: int) -> bool:
    """True if a pooler is between this client and PostgreSQL, whose `process` serves it."""
    return connection.info.backend_pid != process


def prepare_nothing_behind_pooler(engine: AsyncEngine) -> None:
    """Let each new connection of the engine prepare statements only without a pooler.

    Without one, the server is also told to notice soon that it has lost this client.
    """

    @event.listens_for(engine.sync_engine, "connect")
    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        driver: psycopg.AsyncConnection = connection.driver_connection
        cursor = connection.cursor()
        cursor.execute(SERVING_PROCESS)
        row = cursor.fetchone()
        if row is not None and is_pooled(driver, row[0]):
            driver.prepare_threshold = None
        else:
            cursor.execute(NOTICE_LOST_CLIENT)
        cursor.close()
        connection.commit()
