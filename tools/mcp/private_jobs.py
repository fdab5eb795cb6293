"""Decide which tools a private job may call: a job that may read private documents.

What a model writes into a call can come from a document or page that asks for it. So a private job
calls only tools whose calls stay on this machine or go where the operator allowed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from mcp.types import Tool

from holdfast.models.jobs.job_record import JobRequest
from holdfast.tools.private_job_settings import TABLE, PrivateJobSettings


class Reach(StrEnum):
    """Where the arguments of a server's tools can go."""

    ALLOWED = "allowed"
    """Only where the operator allowed: to hosts of `allowed_hosts`, or to an allowed server."""
    DECLARED = "declared"
    """Out, unless the tool declares `openWorldHint: false`: a program on this machine."""
    REMOTE = "remote"
    """To another machine: a server with a URL."""


@dataclass(frozen=True)
class ClosedServer:
    """A built-in server that no private job may call."""

    reason: str
    """Which hosts are missing, and what to write."""


@dataclass(frozen=True)
class PrivateJob:
    """What one private job may call."""

    cause: str
    """What makes the job private."""
    closed_servers: Mapping[str, str]
    """Why each of these servers is closed, by name."""

    def server_refusal(self, server: str) -> str:
        """Return why the whole server is closed; empty if it is not."""
        reason = self.closed_servers.get(server, "")
        return f"{self._beginning}, and {reason}" if reason else ""

    def tool_refusal(self, server: str, tool: Tool, reach: Reach) -> str:
        """Return why the tool is closed, and what to do; empty if the job may call it."""
        if reach is Reach.ALLOWED or (reach is Reach.DECLARED and _stays_here(tool)):
            return ""
        why = (
            f"the server {server!r} is not on this machine"
            if reach is Reach.REMOTE
            else f"{server}.{tool.name} does not declare that it sends nothing out "
            "(openWorldHint: false)"
        )
        return (
            f"{self._beginning}, and {why}. Go on without it; the operator may add {server!r} to "
            f"allowed_servers under [{TABLE}] in holdfast.toml"
        )

    @property
    def _beginning(self) -> str:
        return f"this job may read private documents ({self.cause})"


def private_cause(
    request: JobRequest, servers: Collection[str], private_servers: Collection[str]
) -> str:
    """Return what makes a job with these servers private; empty if nothing does."""
    causes = ["a collection"] if request.collection else []
    causes += [f"the server {name!r}" for name in sorted(servers) if name in private_servers]
    if request.strategy.demonstrations:  # plans quote what earlier jobs read
        causes.append("plans of earlier jobs")
    return ", ".join(causes)


def server_reach(name: str, *, has_url: bool, settings: PrivateJobSettings) -> Reach:
    """Return where the calls of a server of `[servers]` can go."""
    if name in settings.allowed_servers:
        return Reach.ALLOWED
    return Reach.REMOTE if has_url else Reach.DECLARED


def _stays_here(tool: Tool) -> bool:
    return tool.annotations is not None and tool.annotations.open_world_hint is False
