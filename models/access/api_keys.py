"""Define API keys as they are listed, and as they are shown once."""

from datetime import datetime

from holdfast.models.access.access_scopes import Scope
from holdfast.models.frozen_model import Frozen


class ApiKey(Frozen):
    """A key without its secret."""

    id: str
    name: str
    """What the key is for, such as `laptop`."""
    owner: str
    """Whose jobs and collections the key makes and sees."""
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """Exact to a minute."""
    replaces: str = ""
    """The key that this one was made from by rotation; empty: none."""

    @property
    def sender(self) -> str:
        """The name of the key's user in logs and in the audit."""
        return f"{self.owner} ({self.name})"

    def state_at(self, now: datetime) -> str:
        """`active`, `revoked` or `expired`."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if now < self.expires_at else "expired"


class CreatedKey(Frozen):
    """A new key with its secret, which nothing shows again."""

    key: str
    """What a request sends: `Authorization: Bearer KEY`."""
    details: ApiKey
