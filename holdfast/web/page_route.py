"""Answer a request for a page that fails with a page that says what happened and what to do."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from holdfast.api.problem_documents import status_of_error
from holdfast.models.errors import HoldfastError, ServiceDown, StorageAway
from holdfast.web.access.page_session import SignInNeeded
from holdfast.web.rendering.page_templates import page

log = structlog.get_logger(__name__)

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_RETRY_S = 3


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Handler:
        answer = super().get_route_handler()

        async def answer_or_error_page(request: Request) -> Response:
            try:
                return await answer(request)
            except SignInNeeded as error:
                return page(request, "sign_in", code=401, message=str(error), next=_next(request))
            except RequestValidationError as error:
                return error_page(request, _faults(error), 422)
            except HoldfastError as error:
                return error_page(
                    request,
                    str(error),
                    status_of_error(error),
                    is_passing=isinstance(error, ServiceDown | StorageAway),
                )
            except (HTTPException, ClientDisconnect):
                # Handlers of the application answer these, also for the API.
                raise
            except Exception:
                # The text of a defect may contain private data and is only logged.
                log.exception("page.failed", path=request.url.path)
                return error_page(request, "the page failed; the server's log says why", 500)

        return answer_or_error_page


def error_page(
    request: Request,
    message: str,
    status: int,
    *,
    is_passing: bool = False,
    has_job: bool = False,
) -> Response:
    """The page about a request that failed; of a passing fault it asks again by itself.

    `has_job` is for a status of 404 of which the job is there.
    """
    # A form must not be sent twice without its user.
    asks_again = is_passing and request.method == "GET"
    response = page(
        request, "error", code=status, message=message, is_passing=is_passing,
        asks_again_s=_RETRY_S if asks_again else 0,
        is_missing=status == HTTPStatus.NOT_FOUND,
        is_defect=status == HTTPStatus.INTERNAL_SERVER_ERROR,
        job_address=_job_address(request, status, has_job=has_job),
    )  # fmt: skip
    if asks_again:
        response.headers["Retry-After"] = str(_RETRY_S)
    return response


def _job_address(request: Request, status: int, *, has_job: bool) -> str:
    """The page of the job that the request was about; empty if it was about none that is there."""
    job = request.path_params.get("job", "")
    is_unknown = status in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN) and not has_job
    is_there = job and not is_unknown
    path = f"/jobs/{quote(job, safe='')}" if is_there else ""
    return path if path != request.url.path else ""


def _next(request: Request) -> str:
    """The page to go to after signing in."""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{request.url.path}{query}" if request.method == "GET" else "/"


def _faults(error: RequestValidationError) -> str:
    # Not the values that were sent: they may be secret, or very long.
    faults = [f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()[:5]]
    return "; ".join(faults)[:1000]
