"""Define how far a model call has come; the endpoint writes it, and its caller reads it."""

from dataclasses import dataclass
from typing import Protocol


class ResponseRecord(Protocol):
    """Records which response in the background a call waits for, so that a crash loses nothing."""

    async def record(self, response_id: str | None, *, is_sent_again: bool) -> None:
        """Record the response's id, or that there is none any more.

        `is_sent_again` says that the endpoint lost it, so that the request is paid again.
        """
        ...


@dataclass
class CallProgress:
    """What has come of the reply to one call so far."""

    received_chars: int = 0
    """Characters of the reply, with the thoughts that the endpoint shows; 0 if not streamed."""
    is_streamed: bool = False
    """True if the endpoint sends the reply as it is written."""
    response_id: str | None = None
    """The response in the background that an earlier attempt at this call, or this one, began."""
    is_in_background: bool = False
    """True if the endpoint makes the reply in the background."""
    responses: ResponseRecord | None = None

    async def keep_response(self, response_id: str) -> None:
        """Record that the endpoint works on this response; returns once that is safe."""
        self.response_id, self.is_in_background = response_id, True
        if self.responses is not None:
            await self.responses.record(response_id, is_sent_again=False)

    async def drop_response(self, *, is_sent_again: bool = False) -> None:
        """Record that the response will never come."""
        self.response_id = None
        if self.responses is not None:
            await self.responses.record(None, is_sent_again=is_sent_again)
