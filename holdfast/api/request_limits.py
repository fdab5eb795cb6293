"""Refuse requests whose body is too large, comes too slowly, or has two lengths."""

import asyncio
import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.api.problem_documents import on_http_error, problem_response
from holdfast.models.errors import BadInput

MAX_BODY_BYTES = 2_000_000
"""A question with its settings needs far less."""
MAX_UPLOAD_BYTES = 200_000_000
_MESSAGE_TIMEOUT_S = 30.0
_UPLOAD_PATH = re.compile(r"/(v1/)?collections/.+/documents|/v1/bundles(/check)?|/ask")
"""The whole path, without the root path, of each route of the API and of the page for uploads."""


class RequestLimits:
    """Bound the size of a request's body, and the time between two parts of the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy that believes the other one of the two sees other requests (RFC 9112, 6.1).
            refusal = BadInput("a request has Content-Length or Transfer-Encoding, not both")
            response = problem_response(refusal)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        limit = MAX_UPLOAD_BYTES if _is_upload(scope, headers) else MAX_BODY_BYTES
        stated = headers.get("content-length", "0")
        if not stated.isdecimal() or int(stated[:20]) > limit:
            await _refuse_size(scope, receive, send, limit)
            return
        await self._app(scope, _BoundedBody(receive, limit).receive, send)


def _is_upload(scope: Scope, headers: Headers) -> bool:
    is_form = headers.get("content-type", "").startswith("multipart/form-data")
    is_sent = scope["method"] == "POST"
    return is_form and is_sent and bool(_UPLOAD_PATH.fullmatch(scope["path"]))


async def _refuse_size(scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    """Answer with the application's own handler, which shows a browser a page."""
    handlers = scope["app"].exception_handlers if "app" in scope else {}
    answer = handlers.get(HTTPException, on_http_error)
    response = await answer(Request(scope, receive), HTTPException(413, _too_large(limit)))
    await response(scope, receive, send)


def _too_large(limit: int) -> str:
    return f"the body of this request has at most {limit:,} bytes; send less"


class _BoundedBody:
    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
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
        if self._read_bytes > self._limit:
            raise HTTPException(413, _too_large(self._limit))
        return message
