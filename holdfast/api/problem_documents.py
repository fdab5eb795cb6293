"""Turn errors into problem documents (RFC 9457) that say what to do.

Each document has `type`, `title`, `status` and `detail`, and also `error`, the name of the error,
and `message`, which is the detail once more, for programs that look for these two names.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.api.access.access_errors import AccessRefused, KeyMissing, TooManyRequests
from holdfast.api.commands_as_requests import in_requests
from holdfast.api.route_methods import methods_at
from holdfast.models.errors import (
    BadInput,
    CollectorAway,
    ContextTooLong,
    HoldfastError,
    ModelRefused,
    ModelUnusable,
    NotFound,
    Passing,
    PlanMoved,
    RequestKeyTaken,
    ServiceDown,
    StorageAway,
    Suspending,
)

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_MAX_FAULTS = 20
_HALF_OF_A_PAIR = "surrogates not allowed"
_UNREADABLE = "There was an error parsing the body"
"""What FastAPI says of a body that is no JSON in UTF-8, or no form."""


class FieldFault(NamedTuple):
    """A field of a request that cannot be used."""

    field: str
    message: str


class Problem(BaseModel):
    """The body of an answer to a request that failed."""

    type: str
    title: str
    status: int
    detail: str
    error: str
    message: str
    errors: list[dict[str, str]] = []


PROBLEM_RESPONSE: dict[str, Any] = {
    "description": "A problem document (RFC 9457): what is wrong, and what to do.",
    "content": {MEDIA_TYPE: {"schema": TypeAdapter(Problem).json_schema()}},
}
_STATUS: tuple[tuple[type[HoldfastError], int], ...] = (
    # The first match counts, because most of these are a BadInput too.
    (KeyMissing, 401),
    (AccessRefused, 403),
    (NotFound, 404),
    (PlanMoved, 412),
    (RequestKeyTaken, 422),
    (TooManyRequests, 429),
    (BadInput, 400),
    (ServiceDown, 503),
    (StorageAway, 503),
    (CollectorAway, 503),
    (Passing, 503),
    (Suspending, 409),
    (ModelRefused, 502),
    (ModelUnusable, 502),
    (ContextTooLong, 502),
    (HoldfastError, 500),
)


def problem_response(error: HoldfastError, field: str = "") -> Response:
    """Return the response for an error of Holdfast; `field` is the wrong one, if it is one."""
    status = status_of_error(error)
    headers: dict[str, str] = {}
    if isinstance(error, KeyMissing):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.after_s)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = "5"
    detail = in_requests(str(error))
    faults = [FieldFault(field, detail)] if field else []
    return _problem(status, type(error).__name__, detail, headers, faults=faults)


def status_of_error(error: HoldfastError) -> int:
    """Return the status of the answer to a request that failed with the error."""
    return next(number for kind, number in _STATUS if isinstance(error, kind))


async def on_holdfast_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HoldfastError):
        raise error
    return problem_response(error, _field_of(request, error))


async def on_validation_error(request: Request, error: Exception) -> Response:
    """Name each field of a request that cannot be used, and why."""
    if not isinstance(error, RequestValidationError):
        raise error
    is_json = "json" in request.headers.get("content-type", "")
    faults = [_fault(each, is_json=is_json) for each in list(error.errors())[:_MAX_FAULTS]]
    detail = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
    return _problem(422, "BadInput", detail, faults=faults)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Answer a request with an unknown path or method, or with an unreadable body."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem_response(
            NotFound(f"there is no resource at {request.url.path!r}; /openapi.json lists them")
        )
    detail = str(error.detail)
    if detail == _UNREADABLE:
        detail = "the body cannot be read; send what /openapi.json describes, as JSON in UTF-8"
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # A route knows its own method alone, and the path may have others.
        methods = methods_at(request.app, request.url.path)
        headers["Allow"] = ", ".join(sorted(methods)) or headers.get("Allow", "another method")
        detail = f"{request.method} is not supported here; use {headers['Allow']}"
    return _problem(error.status_code, "BadInput", detail, headers)


async def on_text_error(_: Request, error: Exception) -> Response:
    """Refuse a text with half of a UTF-16 pair, which JSON can write and no storage can hold."""
    if not isinstance(error, UnicodeEncodeError) or error.reason != _HALF_OF_A_PAIR:
        raise error
    half = error.object[error.start]
    detail = f"a text of the request has half of a character, {half!r}; send whole characters"
    return _problem(400, "BadInput", detail)


async def on_cut_body(request: Request, error: Exception) -> Response:
    """End a request whose sender left in the middle of the body; nobody reads the answer."""
    log.info("request.cut_off", path=request.url.path, error=type(error).__name__)
    return _problem(400, "BadInput", "the connection ended before the body did; send it again")


async def on_any_error(request: Request, error: Exception) -> Response:
    """Answer a defect of the server; its text may contain private data and is only logged."""
    log.error("request.failed", path=request.url.path, exc_info=error)
    return _problem(500, "HoldfastError", "the request failed; the server's log says why")


def _field_of(request: Request, error: HoldfastError) -> str:
    """Return the field that the error is about and its place, such as `path.job`, or nothing."""
    if not isinstance(error, BadInput):
        return ""
    field = error.field
    if not field and isinstance(error, NotFound) and error.is_named:
        # What a path is about stands first in it: /v1/jobs/{job}/provenance/{mark}.
        field = next(iter(request.path_params), "")
    if not field:
        return ""
    name = field.partition(".")[0]
    places = {"path": request.path_params, "query": request.query_params}
    place = next((place for place, names in places.items() if name in names), "body")
    return f"{place}.{field}"


def _fault(error: Mapping[str, object], *, is_json: bool) -> FieldFault:
    # Not the value that was sent: it may be a secret, or very long.
    place = error.get("loc", ())
    names = [str(part) for part in place] if isinstance(place, Sequence) else []
    message = str(error.get("msg", ""))[:500].lower()
    if error.get("type") == "json_invalid":
        return FieldFault(field="body", message=f"it is no JSON from character {names[-1]} on")
    if names == ["body"] and error.get("type") == "missing":
        message = "it is missing; send what /openapi.json describes, as JSON"
    elif names == ["body"] and not is_json:
        message += "; send JSON with the header Content-Type: application/json"
    return FieldFault(field=".".join(names)[:200], message=message)


def _problem(
    status: int,
    name: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    faults: Sequence[FieldFault] = (),
) -> Response:
    title = HTTPStatus(status).phrase
    problem = Problem(
        type="about:blank",
        title=title,
        status=status,
        detail=detail,
        error=name,
        message=detail,
        errors=[fault._asdict() for fault in faults],
    )
    content = problem.model_dump(mode="json", exclude_defaults=True)
    return JSONResponse(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)
