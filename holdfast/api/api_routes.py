"""Define the routes of the HTTP API and build the Starlette application."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, JsonValue
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.api.error_responses import (
    HostNameFilter,
    on_any_error,
    on_holdfast_error,
    on_http_error,
)
from holdfast.api.event_feed import EventFeed
from holdfast.api.server_sent_events import READER_TIMEOUT, event_stream_response
from holdfast.client import Holdfast
from holdfast.evidence.report_provenance import provenance_of
from holdfast.jobs.current_status import status_of
from holdfast.jobs.job_lookup import newest_jobs, plan_of, report_of
from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, SVG, StoredFigure
from holdfast.models.errors import BadInput, HoldfastError, NotFound
from holdfast.reports.figure_export import load_job_figure
from holdfast.reports.markdown_and_json_rendering import to_json
from holdfast.storage.evidence.source_queries import load_source_view

_MAX_JOBS = 1000
_DEFAULT_JOBS = 20
_MAX_DIGITS = 18
"""Digits of a number that fits PostgreSQL's bigint."""
_HASH = re.compile(r"[0-9a-f]{64}")
_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


@dataclass(frozen=True)
class JobApi:
    """The endpoints of one installation; all of them only read."""

    holdfast: Holdfast
    following: EventFeed
    reads_within: timedelta = READER_TIMEOUT

    async def index(self, _: Request) -> Response:
        return JSONResponse({"paths": [route.path for route in self.routes()]})

    async def jobs(self, request: Request) -> Response:
        query = request.query_params
        limit = _limit(query.get("limit", str(_DEFAULT_JOBS)))
        jobs = await newest_jobs(self.holdfast, limit, query.get("status"), query.get("preset"))
        return _document(jobs)

    async def job(self, request: Request) -> Response:
        return _document(await self.holdfast.show(_job_id(request)))

    async def status(self, request: Request) -> Response:
        return _document(await status_of(self.holdfast, _job_id(request)))

    async def report(self, request: Request) -> Response:
        return JSONResponse(dict(to_json(await report_of(self.holdfast, _job_id(request)))))

    async def plan(self, request: Request) -> Response:
        return _document((await plan_of(self.holdfast, _job_id(request))).tasks)

    async def figure(self, request: Request) -> Response:
        name = str(request.path_params["sha256"])
        if not _HASH.fullmatch(name):
            raise NotFound(
                f"{name[:80]!r} is not the hash of a figure; the report names its figures"
            )
        figure = await load_job_figure(self.holdfast, _job_id(request), name)
        return Response(
            figure.data, media_type=figure.media_type, headers=_image_headers(name, figure)
        )

    async def events(self, request: Request) -> Response:
        return await event_stream_response(
            self.holdfast.db,
            self.following,
            _job_id(request),
            request,
            reads_within=self.reads_within,
        )

    async def provenance(self, request: Request) -> Response:
        mark = _number("mark", request)
        return _document(await provenance_of(self.holdfast, _job_id(request), mark))

    async def source(self, request: Request) -> Response:
        return _document(await load_source_view(self.holdfast.db, _number("source", request)))

    def routes(self) -> list[Route]:
        return [
            Route("/", self.index),
            Route("/jobs", self.jobs),
            Route("/jobs/{job}", self.job),
            Route("/jobs/{job}/status", self.status),
            Route("/jobs/{job}/report", self.report),
            Route("/jobs/{job}/plan", self.plan),
            Route("/jobs/{job}/figures/{sha256}", self.figure),
            Route("/jobs/{job}/events", self.events),
            Route("/jobs/{job}/provenance/{mark}", self.provenance),
            Route("/sources/{source}", self.source),
        ]


def build_application(api: JobApi, names: frozenset[str] | None) -> Starlette:
    """Build the application; with `names`, it serves only requests to these host names."""
    return Starlette(
        routes=api.routes(),
        middleware=[] if names is None else [Middleware(HostNameFilter, names)],
        exception_handlers={
            HoldfastError: on_holdfast_error,
            HTTPException: on_http_error,
            Exception: on_any_error,
        },
    )


def _job_id(request: Request) -> str:
    job_id = str(request.path_params["job"])
    if not job_id.isprintable():
        # PostgreSQL refuses a text with NUL, even in a query.
        raise NotFound(f"there is no job {job_id!r}; /jobs lists the jobs")
    return job_id


def _number(what: str, request: Request) -> int:
    text = str(request.path_params[what])
    if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
        raise NotFound(f"there is no {what} {text[:40]!r}: write its number")
    return int(text)


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:5]) <= _MAX_JOBS):
        raise BadInput(f"limit is a number from 1 to {_MAX_JOBS}, not {text[:40]!r}")
    return int(text[:5])


def _image_headers(sha256: str, figure: StoredFigure) -> dict[str, str]:
    """Return headers that stop a foreign image from running scripts in a browser."""
    is_shown = figure.media_type != SVG or figure.is_built_in
    name = f"{sha256[:12]}{FIGURE_EXTENSIONS[figure.media_type]}"
    return {
        "Content-Security-Policy": _NO_SCRIPT,
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'{"inline" if is_shown else "attachment"}; filename="{name}"',
        # The address contains the hash of the image, so the image never changes.
        "Cache-Control": "private, max-age=31536000, immutable",
    }


def _document(document: BaseModel | Sequence[BaseModel]) -> Response:
    return JSONResponse(_json_value(document))


def _json_value(document: BaseModel | Sequence[BaseModel]) -> JsonValue:
    if isinstance(document, BaseModel):
        plain: dict[str, JsonValue] = document.model_dump(mode="json")
        return plain
    return [item.model_dump(mode="json") for item in document]
