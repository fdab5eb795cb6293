"""What a supervisor tells a worker when it starts it: who it is, and who died before it."""

import os
import secrets
import socket
from datetime import datetime

from pydantic import Field

from models.base import Frozen


class Death(Frozen):
    """A worker that ended unasked, and when its supervisor saw it."""

    identity: str
    died_at: datetime


class Life(Frozen):
    """One worker's life; a worker without a supervisor has one as well."""

    token: str = Field(default_factory=lambda: secrets.token_hex(4))
    supervisor: int | None = Field(default=None, description="the supervisor's pid")
    deaths: tuple[Death, ...] = Field(default=(), description="the latest, the oldest first")

    @property
    def identity(self) -> str:
        """The name of this process in Temporal."""
        return identity_of(os.getpid(), self.token)


def identity_of(pid: int, token: str) -> str:
    """A worker's name in Temporal; `pid@host` alone comes again in every container."""
    return f"{pid}@{socket.gethostname()}#{token}"
