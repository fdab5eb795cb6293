"""Define who sends a request, and the scopes that the sender has."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a sender may do."""

    READ = "read"
    """See jobs, reports, collections and the installation's settings."""
    ASK = "ask"
    """Submit jobs, and add documents."""
    STEER = "steer"
    """Pause, resume, cancel, retry, steer and answer jobs; retract and recheck evidence."""
    ADMIN = "admin"
    """See and change the work of all owners; remove jobs and collections."""


@dataclass(frozen=True)
class Caller:
    """Who sends a request; the audit and the jobs' logs name `name`."""

    name: str
    owner: str
    scopes: frozenset[Scope]
    key_id: str = ""
    """The API key of the request; empty for the installation's token."""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    @property
    def sees_all(self) -> bool:
        """True if the caller sees the work of every owner."""
        return Scope.ADMIN in self.scopes

    @property
    def visible_owner(self) -> str | None:
        """The only owner whose work the caller sees; None: the caller sees all."""
        return None if self.sees_all else self.owner

    def own_name(self, name: str) -> str:
        """The name as the installation knows it: two owners may use the same name."""
        return f"{self.owner}/{name}" if self.key_id else name
