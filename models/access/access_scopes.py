"""Define what the sender of a request may do."""

from enum import StrEnum


class Scope(StrEnum):
    """What a sender may do."""

    READ = "read"
    """See jobs, reports, collections and the installation's settings."""
    ASK = "ask"
    """Submit jobs, and add documents."""
    STEER = "steer"
    """Pause, resume, cancel, retry, steer and answer jobs; retract, recheck and erase."""
    ADMIN = "admin"
    """See and change the work of all owners; remove jobs; manage keys; read the audit."""
