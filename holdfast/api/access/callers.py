"""Define who sends a request."""

from dataclasses import dataclass

from holdfast.api.access.access_errors import AccessRefused
from holdfast.models.access.access_scopes import Scope


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

    def check_scope(self, scope: Scope) -> None:
        """Refuse a caller whose scopes do not cover a request.

        Raises:
            AccessRefused: the caller lacks the scope.
        """
        if not self.may(scope):
            raise AccessRefused(
                f"this key has no scope {scope.value!r}; its scopes: "
                f"{', '.join(sorted(self.scopes)) or 'none'}; an administrator makes a key "
                f"that has it with `holdfast keys create NAME --scope {scope.value}`"
            )

    @property
    def is_installation(self) -> bool:
        """True if the request has the installation's token."""
        return not self.key_id

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
        return name if self.is_installation else f"{self.owner}/{name}"
