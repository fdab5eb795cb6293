"""An HTTP client for MCP whose failures and floods cost one request and never the connection."""

import asyncio
from datetime import timedelta
from functools import cache
from http import HTTPStatus
from typing import Any

import httpx2

from holdfast.tools.mcp.transports.bounded_event_stream import BoundedEventStream
from holdfast.tools.mcp.transports.message_limits import (
    MAX_MESSAGE_BYTES,
    UnreadableMessage,
    error_reply,
    read_message,
    too_long,
)
from holdfast.tools.mcp.transports.request_trace import RequestTrace, current_trace

_tls_context = cache(httpx2.create_ssl_context)
"""One for the process: reading all certificates takes 50 ms of processor time."""
_KEPT_HEADERS = ("content-type", "mcp-session-id")
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_FAREWELL_S = 2.0
"""Seconds in which a server must take the end of its session."""


class IsolatingHttpClient(httpx2.AsyncClient):
    """An HTTP client that turns exceptions into error replies of the one request.

    An exception would end the transport and every other call to the server.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  # as httpx2 has it
        super().__init__(verify=_tls_context(), **options)
        # A few packed bytes would become a body of any size in one turn of the loop.
        self.headers["accept-encoding"] = "identity"

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401  # as httpx2 has it
        trace = current_trace.get(None) or RequestTrace()
        try:
            async with asyncio.timeout(_FAREWELL_S if request.method == "DELETE" else None):
                response = await super().send(request, **options | {"stream": True})
            trace.left = True
            _note_status(trace, response)
            return await _bounded(response)
        except httpx2.TransportError as error:
            trace.left = trace.left or not isinstance(error, _UNSENT)
            trace.lost = f"{type(error).__name__}: {error}".rstrip(": ")
            return _error_response(request, trace.lost)


def _note_status(trace: RequestTrace, response: httpx2.Response) -> None:
    trace.status = response.status_code if response.is_error else None
    wait = response.headers.get("retry-after", "")
    trace.after = timedelta(seconds=int(wait[:6])) if wait.isdecimal() else None


async def _bounded(response: httpx2.Response) -> httpx2.Response:
    """Return the response with a bounded body: of JSON, of events, or empty."""
    kind = response.headers.get("content-type", "").lower()
    is_body = response.next_request is None and response.request.method != "DELETE"
    if is_body and response.headers.get("content-encoding", "identity") != "identity":
        await response.aclose()
        return _error_response(response.request, "the answer is compressed, which was not asked")
    if is_body and kind.startswith("text/event-stream"):
        return _with_body(response, stream=BoundedEventStream(response))
    if is_body and kind.startswith("application/json"):
        return await _read_whole(response)
    await response.aclose()
    return _with_body(response, content=b"")


async def _read_whole(response: httpx2.Response) -> httpx2.Response:
    """Return the response with its body read, while a failure still affects only this request."""
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_MESSAGE_BYTES:
                return _error_response(response.request, too_long(MAX_MESSAGE_BYTES))
    finally:
        await response.aclose()
    try:
        await read_message(bytes(body))
    except UnreadableMessage as fault:
        return _error_response(response.request, str(fault))
    return _with_body(response, content=bytes(body))


def _with_body(response: httpx2.Response, **body: Any) -> httpx2.Response:  # noqa: ANN401  # as httpx2 has it
    headers = {key: response.headers[key] for key in _KEPT_HEADERS if key in response.headers}
    headers = {key: value.partition(";")[0] for key, value in headers.items()}
    bounded = httpx2.Response(
        response.status_code, headers=headers, request=response.request, **body
    )
    bounded.next_request = response.next_request
    return bounded


def _error_response(request: httpx2.Request, why: str) -> httpx2.Response:
    answer = error_reply(None, why).model_dump(mode="json", by_alias=True)
    return httpx2.Response(HTTPStatus.BAD_GATEWAY, json=answer, request=request)
