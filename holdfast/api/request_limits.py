"""Refuse requests whose body is too large or comes too slowly."""

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.api.problem_documents import problem_response
from holdfast.models.errors import BadInput

MAX_BODY_BYTES = 2_000_000
"""A question with its settings needs far less."""
_MESSAGE_TIMEOUT_S = 30.0
_TOO_LARGE = f"the body of a request has at most {MAX_BODY_BYTES:,} bytes; send less"


class RequestLimits:
    """Bound the size of a request's body, and the time between two parts of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stated = Headers(scope=scope).get("content-length", "0")
        if not stated.isdecimal() or int(stated[:20]) > MAX_BODY_BYTES:
            await problem_response(BadInput(_TOO_LARGE), 413)(scope, receive, send)
            return
        await self._app(scope, _BoundedBody(receive).receive, send)


class _BoundedBody:
    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._read_bytes = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """Return the next part of the body.

        Raises:
            HTTPException: the body is too large, or comes too slowly.
        """
        if self._is_whole:
            # After the body only the sender's leaving comes, which may take as long as it likes.
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), _MESSAGE_TIMEOUT_S)
        except TimeoutError:
            raise HTTPException(
                408, f"no part of the body came for {_MESSAGE_TIMEOUT_S:.0f} s; send it faster"
            ) from None
        self._read_bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._read_bytes > MAX_BODY_BYTES:
            raise HTTPException(413, _TOO_LARGE)
        return message
