"""Options of connections to PostgreSQL: notice a peer that cannot be reached, and name a worker.

A host that is cut off sends no packet, so neither end hears of it. Without these options a
statement waits for a quarter of an hour, and a lock of the lost client is held for two hours.
"""

from collections.abc import Mapping
from hashlib import sha256

from sqlalchemy import make_url

_CLIENT_OPTIONS: Mapping[str, int] = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Seconds, and milliseconds for the last: a server out of reach is away after about ten seconds."""

NOTICE_LOST_CLIENT = (
    "select set_config('tcp_keepalives_idle', '10', false) as idle,"
    " set_config('tcp_keepalives_interval', '5', false) as pause,"
    " set_config('tcp_keepalives_count', '3', false) as tries,"
    " set_config('tcp_user_timeout', '25000', false) as unanswered"
)
"""Lets the server end a session, and free its locks, 25 s after it lost its client."""


def session_options(url: str, worker: str = "") -> dict[str, str | int]:
    """Return the options of a connection that the URL does not set.

    A session of a `worker` has its name, so that other workers see that it lives.
    """
    named = {"application_name": session_name(worker)} if worker else {}
    given = make_url(url).query
    return {**{name: v for name, v in _CLIENT_OPTIONS.items() if name not in given}, **named}


def session_name(worker: str) -> str:
    """Return the name of the worker's sessions; PostgreSQL cuts longer ones than 63 characters."""
    return f"holdfast worker {sha256(worker.encode()).hexdigest()[:24]}"
