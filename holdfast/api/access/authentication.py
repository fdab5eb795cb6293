"""Find out who sends a request, from the token or the key in its header.

A request has the installation's token, an API key, or a token of the sign-in provider that
`holdfast.toml` names.
"""

import secrets
from dataclasses import dataclass

from holdfast.access.api_keys import key_of
from holdfast.api.access.access_errors import KeyMissing
from holdfast.api.access.callers import Caller
from holdfast.api.access.oidc_tokens import OidcTokens, is_jwt
from holdfast.jobs.current_user import current_user
from holdfast.models.access.access_scopes import Scope
from holdfast.storage.core.database import Database


@dataclass(frozen=True)
class Authentication:
    """Knows the installation's token, and looks up keys."""

    db: Database
    token: str
    oidc: OidcTokens | None = None

    async def caller_of(self, given: str) -> Caller:
        """The sender of a request with this key or token; empty: the request has none.

        Raises:
            KeyMissing: the request has no key, or one that is not valid.
            StorageAway: PostgreSQL does not answer.
            ServiceDown: the sign-in provider does not answer.
        """
        if not given:
            raise KeyMissing(
                "this API needs a key: send the header `Authorization: Bearer KEY`; `holdfast keys "
                "create NAME` makes one, and the file api_token of the home folder has the "
                "installation's own"
            )
        if secrets.compare_digest(given.encode(), self.token.encode()):
            user = current_user()
            return Caller(user, user, frozenset(Scope))
        if self.oidc is not None and is_jwt(given):
            return await self.oidc.caller_of(given)
        key = await key_of(self.db, given)
        if key is None:
            raise KeyMissing(
                "this key is not known, has expired, or was revoked; `holdfast keys list` shows "
                "which keys there are"
            )
        return Caller(key.sender, key.owner, frozenset(key.scopes), key.id)
