"""Add the page to the server: its routes, its files, and pages for unknown addresses."""

from http import HTTPStatus

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from holdfast.api.problem_documents import on_http_error
from holdfast.web.access.page_polls import PollAudit
from holdfast.web.page_route import error_page
from holdfast.web.routes import (
    ask_routes,
    collection_page_routes,
    control_routes,
    installation_page_routes,
    job_list_routes,
    plan_routes,
    read_routes,
    record_page_routes,
    schedule_page_routes,
    sign_in_routes,
    static_routes,
    watch_routes,
)
from holdfast.web.watch.shared_loads import SharedLoads

_ROUTERS = (
    sign_in_routes.router,
    static_routes.router,
    ask_routes.router,
    job_list_routes.router,
    watch_routes.router,
    read_routes.router,
    record_page_routes.router,
    control_routes.router,
    plan_routes.router,
    collection_page_routes.router,
    installation_page_routes.router,
    schedule_page_routes.router,
)
_OTHER_FACES = ("/v1/", "/mcp", "/openapi.json")
_REFUSED_BODIES = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
)


def add_page(app: FastAPI) -> None:
    """Serve the page next to the API."""
    app.state.job_pages = SharedLoads()
    app.state.poll_audit = PollAudit()
    for router in _ROUTERS:
        app.include_router(router, include_in_schema=False)
    app.add_exception_handler(HTTPException, _on_http_error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Answer a browser with a page, and a program with a problem document."""
    is_browser = "text/html" in request.headers.get("accept", "")
    is_page = is_browser and not request.url.path.startswith(_OTHER_FACES)
    if not is_page or not isinstance(error, HTTPException):
        return await on_http_error(request, error)
    if error.status_code == HTTPStatus.NOT_FOUND:
        message = f"there is no page at {request.url.path[:200]!r}; the list has all jobs"
        return error_page(request, message, error.status_code)
    if error.status_code in _REFUSED_BODIES:
        message = f"{error.detail}; go back: the form still has what you wrote"
        response = error_page(request, message, error.status_code)
        # The rest of the body is not read.
        response.headers["Connection"] = "close"
        return response
    return await on_http_error(request, error)
