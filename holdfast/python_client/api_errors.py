"""Define the errors of the client, made from the problem documents of the API."""

import json
from dataclasses import dataclass
from typing import Any

_UNPROCESSABLE = 422
_DEFAULT_PAUSE_S = 5.0


@dataclass
class ApiError(Exception):
    """A request that the server refused or could not answer; `detail` says what to do."""

    detail: str
    status: int = 0
    """The HTTP status; 0 if no answer came."""
    error: str = ""
    """The name of the error, such as `NotFound`."""
    fields: tuple[tuple[str, str], ...] = ()
    """The fields of the request that cannot be used, each with the reason."""
    after_s: float = 0.0
    """How long the server asks to wait before the next try."""

    def __str__(self) -> str:
        return self.detail


class InvalidRequest(ApiError):
    """The request, or a field of it, cannot be used."""


class KeyRefused(ApiError):
    """The key is missing, unknown, expired or revoked."""


class AccessRefused(ApiError):
    """The key is valid, and its scopes do not cover the request."""


class NotFound(ApiError):
    """There is no such job, report, collection or document, or the key's owner may not see it."""


class PlanMoved(ApiError):
    """The plan has a newer revision than the answer names."""


class RequestKeyTaken(InvalidRequest):
    """The idempotency key belongs to another request."""


class TooManyRequests(ApiError):
    """The key has used up its requests of this minute."""


class ServiceUnavailable(ApiError):
    """PostgreSQL, Temporal or the model does not answer the server now; try again later."""


class ServerUnreachable(ApiError):
    """No server answers at the address."""


_KINDS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: KeyRefused,
    403: AccessRefused,
    404: NotFound,
    405: InvalidRequest,
    408: InvalidRequest,
    412: PlanMoved,
    413: InvalidRequest,
    422: InvalidRequest,
    429: TooManyRequests,
    503: ServiceUnavailable,
}


def error_of(status: int, body: bytes, retry_after: str) -> ApiError:
    """The error of an answer, from its problem document if it has one."""
    problem = _problem(body)
    name = str(problem.get("error", ""))
    kind = _KINDS.get(status, ApiError)
    if name == RequestKeyTaken.__name__ and status == _UNPROCESSABLE:
        kind = RequestKeyTaken
    faults = problem.get("errors") or []
    return kind(
        detail=str(problem.get("detail") or f"the server answered with status {status}"),
        status=status,
        error=name,
        fields=tuple((str(each["field"]), str(each["message"])) for each in faults),
        after_s=float(retry_after) if retry_after.isdecimal() else 0.0,
    )


def pause_after(error: ApiError) -> float:
    """How long to wait before the same request is sent again, in seconds."""
    return min(error.after_s or _DEFAULT_PAUSE_S, _DEFAULT_PAUSE_S)


def _problem(body: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(body)
    except ValueError:  # a proxy's page
        return {}
    return problem if isinstance(problem, dict) else {}
