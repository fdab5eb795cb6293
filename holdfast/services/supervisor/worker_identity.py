"""Define the name of a worker in Temporal and the data that a supervisor passes to a new worker."""

import os
import secrets
import socket
from datetime import datetime

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.activity_key import ActivityKey


class WorkerDeath(Frozen):
    """A worker that ended unexpectedly, and when its supervisor noticed."""

    identity: str
    died_at: datetime
    stalled_in: ActivityKey | None = Field(
        default=None,
        description="the activity during which the loop stood still, for which it was killed",
    )


class WorkerLaunch(Frozen):
    """One worker's life; a worker without a supervisor has one as well."""

    token: str = Field(default_factory=lambda: secrets.token_hex(4))
    supervisor: int | None = Field(default=None, description="the supervisor's pid")
    pulse: int | None = Field(default=None, description="the descriptor of the shared pulse")
    deaths: tuple[WorkerDeath, ...] = Field(
        default=(), description="the latest deaths, the oldest first"
    )

    @property
    def identity(self) -> str:
        """Return the name of this process in Temporal."""
        return worker_identity_of(os.getpid(), self.token)


def worker_identity_of(pid: int, token: str) -> str:
    """Return a unique worker name for Temporal; `pid@host` repeats in every container."""
    return f"{pid}@{socket.gethostname()}#{token}"
