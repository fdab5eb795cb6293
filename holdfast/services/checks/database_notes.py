"""Note what a working connection to PostgreSQL lacks or has in between."""

import psycopg

from holdfast.storage.core.connection_pooler import SERVING_PROCESS, is_pooled
from holdfast.storage.core.owner_role import read_owner_role

_IN_USE = """
select count(*) as used, current_setting('max_connections') as most
from pg_stat_activity where backend_type = 'client backend'
"""


def database_notes(connection: psycopg.Connection, *, is_embedded: bool) -> list[str]:
    """Return a part of a sentence for each of: a pooler, encryption, connections, owners' rows."""
    notes = [] if is_embedded else [*_encryption(connection), _connections_in_use(connection)]
    process = connection.execute(SERVING_PROCESS).fetchone()
    if process is not None and is_pooled(connection, process[0]):
        notes.append("behind a connection pooler, so nothing is prepared")
    role = read_owner_role(connection)
    if role.fault:
        notes.append(f"only queries hide the rows of owners, because {role.fault}: {role.remedy}")
    return notes


def _encryption(connection: psycopg.Connection) -> list[str]:
    if not connection.info.hostaddr:
        return []  # a socket of this computer
    if not connection.pgconn.ssl_in_use:
        return ["not encrypted (sslmode=verify-full in HOLDFAST_DATABASE_URL encrypts)"]
    if not connection.info.get_parameters().get("sslmode", "").startswith("verify-"):
        return ["encrypted, but nobody checks the server's certificate (sslmode=verify-full does)"]
    return ["encrypted"]


def _connections_in_use(connection: psycopg.Connection) -> str:
    row = connection.execute(_IN_USE).fetchone()
    assert row is not None, "an aggregate has a row"
    return f"{row[0]} of {row[1]} connections in use"
