"""Find out who sends a request, from the token or the key in its header."""

import secrets
from dataclasses import dataclass

from holdfast.api.access.access_errors import KeyMissing
from holdfast.api.access.callers import Caller, Scope
from holdfast.jobs.current_user import current_user


@dataclass(frozen=True)
class Authentication:
    """Knows the installation's token."""

    token: str

    async def caller_of(self, given: str) -> Caller:
        """The sender of a request with this key or token; empty: the request has none.

        Raises:
            KeyMissing: the request has no key, or a wrong one.
        """
        if not given:
            raise KeyMissing(
                "this API needs a key: send the header `Authorization: Bearer KEY`; the "
                "installation's own token lies in the file api_token of its home folder"
            )
        if secrets.compare_digest(given.encode(), self.token.encode()):
            user = current_user()
            return Caller(user, user, frozenset(Scope))
        raise KeyMissing("this key is not known; the file api_token of the home folder has one")
