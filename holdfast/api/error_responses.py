"""Turn errors into JSON responses with `error` and `message`, and refuse unknown host names."""

from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.models.errors import BadInput, HoldfastError, NotFound, ServiceDown, StorageAway

log = structlog.get_logger(__name__)

_STATUS: tuple[tuple[type[HoldfastError], int], ...] = (
    # The first match counts, because NotFound is a BadInput too.
    (NotFound, 404),
    (BadInput, 400),
    (ServiceDown, 503),
    (StorageAway, 503),
    (HoldfastError, 500),
)


def error_response(error: HoldfastError) -> Response:
    """Return the response for an error of Holdfast."""
    status = next(number for kind, number in _STATUS if isinstance(error, kind))
    return _answer(status, type(error).__name__, str(error))


async def on_holdfast_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HoldfastError):
        raise error
    return error_response(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer a request with an unknown path or method."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 404:
        return error_response(
            NotFound(f"there is no resource at {request.url.path!r}; / lists the resources")
        )
    message = f"{request.method} is not supported: this API only reads; use GET"
    answer = _answer(error.status_code, "BadInput", message)
    answer.headers.update(error.headers or {})
    return answer


async def on_any_error(request: Request, error: Exception) -> Response:
    """Answer a defect of the server; its text may contain private data and is only logged."""
    log.error("request.failed", path=request.url.path, error=type(error).__name__)
    return _answer(500, "HoldfastError", "the request failed; the server's log says why")


def _answer(status: int, name: str, message: str) -> Response:
    return JSONResponse({"error": name, "message": message}, status)


class HostNameFilter:
    """Serve requests to one of the server's host names, and refuse all other requests.

    A web page can make its own host name point to this computer and so read local services (DNS
    rebinding), but the browser then sends the page's host name, which this filter refuses.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        names = ", ".join(sorted(self._names))
        answer = error_response(BadInput(f"use one of the server's host names: {names}"))
        await answer(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        # Not `request.url`: for a malformed header it has the server's address.
        try:
            return urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname in self._names
        except ValueError:
            return False
