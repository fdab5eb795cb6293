"""What was asked wrongly, or cannot be answered now, as JSON: {error, message}."""

from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from models.errors import BadInput, HoldfastError, NotFound, ServiceDown, StorageAway

log = structlog.get_logger(__name__)

_STATUS: tuple[tuple[type[HoldfastError], int], ...] = (
    # The first that fits: what is not found is a bad input too.
    (NotFound, 404),
    (BadInput, 400),
    (ServiceDown, 503),
    (StorageAway, 503),
    (HoldfastError, 500),
)


def refused(error: HoldfastError) -> Response:
    """The answer to a request that ended in one of our errors."""
    status = next(number for kind, number in _STATUS if isinstance(error, kind))
    return _answer(status, type(error).__name__, str(error))


async def on_our_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HoldfastError):
        raise error
    return refused(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """A path or a method that there is none of."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 404:
        return refused(NotFound(f"there is nothing at {request.url.path!r}; see / for what is"))
    message = f"{request.method} is not served here: this is for looking; use GET"
    answer = _answer(error.status_code, "BadInput", message)
    answer.headers.update(error.headers or {})
    return answer


async def on_any_error(request: Request, error: Exception) -> Response:
    """A mistake of ours: its text stays in the log, for it may hold what is nobody's business."""
    log.error("request.failed", path=request.url.path, error=type(error).__name__)
    return _answer(500, "HoldfastError", "this could not be answered; the server's log says why")


def _answer(status: int, name: str, message: str) -> Response:
    return JSONResponse({"error": name, "message": message}, status)


class OnlyNames:
    """Serves those who call the server by one of its names, and refuses all others.

    A page in a browser can have its own name lead to this computer and so read what is served to
    this computer alone (DNS rebinding); it cannot choose the name that the browser then sends.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        names = ", ".join(sorted(self._names))
        answer = refused(BadInput(f"this server is called by one of: {names}"))
        await answer(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        # Not the request's own url: where the header is odd, it names the server's address.
        try:
            return urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname in self._names
        except ValueError:
            return False
