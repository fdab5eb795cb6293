"""Define the errors of requests that are refused because of who sends them."""

from holdfast.models.errors import BadInput


class KeyMissing(BadInput):
    """The request has no valid key or token."""


class AccessRefused(BadInput):
    """The key is valid, and its scopes do not cover the request."""


class TooManyRequests(BadInput):
    """The sender has used up the requests of this minute; `after_s` is the wait in seconds."""

    def __init__(self, message: str, *, after_s: int) -> None:
        super().__init__(message)
        self.after_s = after_s
