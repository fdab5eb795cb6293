"""Build the application of the HTTP API from its routes."""

from collections.abc import Sequence
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from holdfast.api.access.request_audit import RefusalAudit
from holdfast.api.access.request_rates import RateLimitHeaders
from holdfast.api.api_context import ApiContext
from holdfast.api.host_name_filter import HostNameFilter
from holdfast.api.problem_documents import (
    PROBLEM_RESPONSE,
    on_any_error,
    on_cut_body,
    on_holdfast_error,
    on_http_error,
    on_text_error,
    on_validation_error,
)
from holdfast.api.request_limits import RequestLimits
from holdfast.api.response_headers import ProtectiveHeaders
from holdfast.api.root_path import RootPath
from holdfast.api.route_methods import note_methods
from holdfast.api.routes import (
    access_routes,
    bundle_routes,
    codec_routes,
    collection_routes,
    erasure_routes,
    evidence_routes,
    installation_routes,
    job_control_routes,
    job_removal_routes,
    job_submission_routes,
    job_view_routes,
    observability_routes,
    quota_routes,
    record_routes,
    response_routes,
    schedule_routes,
    upload_routes,
    webhook_routes,
)
from holdfast.models.errors import HoldfastError

_ROUTERS = (
    job_submission_routes.router,
    job_view_routes.router,
    job_control_routes.router,
    job_removal_routes.router,
    erasure_routes.router,
    record_routes.router,
    codec_routes.router,
    evidence_routes.router,
    bundle_routes.router,
    collection_routes.router,
    upload_routes.router,
    installation_routes.router,
    access_routes.router,
    quota_routes.router,
    response_routes.router,
    schedule_routes.router,
    webhook_routes.router,
    observability_routes.router,
)
_READ_BY_SCRIPTS = ("ETag", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After")


def build_application(
    context: ApiContext,
    names: frozenset[str] | None,
    root_path: str = "",
    origins: Sequence[str] = (),
) -> FastAPI:
    """Build the application.

    With `names`, it serves only requests to these host names; with `root_path`, its links begin
    with this path. Scripts of pages of other sites may use it only if `origins` has their site.
    """
    app = FastAPI(
        title="Holdfast",
        version=version("holdfast"),
        description="Submit research questions, follow their jobs, and read cited reports.",
        # Their pages load scripts from elsewhere; `/openapi.json` describes the same.
        docs_url=None,
        redoc_url=None,
        servers=[{"url": root_path}] if root_path else None,
        generate_unique_id_function=lambda route: route.name,
        responses={"default": PROBLEM_RESPONSE},
        exception_handlers={
            HoldfastError: on_holdfast_error,
            RequestValidationError: on_validation_error,
            HTTPException: on_http_error,
            UnicodeEncodeError: on_text_error,
            ClientDisconnect: on_cut_body,
            Exception: on_any_error,
        },
    )
    app.state.context = context
    v1 = APIRouter(prefix="/v1")
    for router in _ROUTERS:
        v1.include_router(router)
    app.include_router(v1)
    app.include_router(observability_routes.metrics_router, include_in_schema=False)
    note_methods(app, "/v1", _ROUTERS)
    app.add_middleware(RefusalAudit)
    app.add_middleware(RateLimitHeaders)
    app.add_middleware(RequestLimits)
    app.add_middleware(ProtectiveHeaders)
    if origins:
        # Without credentials: a script has to know a key, and the page's cookie is not sent.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[*origins],
            allow_methods=["DELETE", "GET", "POST", "PUT"],
            allow_headers=["*"],
            expose_headers=[*_READ_BY_SCRIPTS],
        )
    if names is not None:
        app.add_middleware(HostNameFilter, names=names)
    if root_path:
        app.add_middleware(RootPath, root_path=root_path)
    return app
