"""What is served, and where: the documents that the commands print with --json, and the log."""

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

from holdfast.api.errors import OnlyNames, on_any_error, on_http_error, on_our_error
from holdfast.api.events import READS_WITHIN, stream
from holdfast.api.following import Following
from holdfast.client import Holdfast
from holdfast.figures import figure_of
from holdfast.provenance import provenance_of
from holdfast.reading import newest_jobs, plan_of, report_of
from holdfast.rendering import to_json
from holdfast.status import status_of
from models.errors import BadInput, HoldfastError, NotFound
from models.figures import ENDINGS, SVG, StoredFigure
from storage.sources import source_view

_MOST_JOBS = 1000
_JOBS = 20
_DIGITS = 18
"""Of a number that fits into PostgreSQL's bigint."""
_HASH = re.compile(r"[0-9a-f]{64}")
_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


@dataclass(frozen=True)
class Api:
    """The answers over one installation. Looking never writes."""

    holdfast: Holdfast
    following: Following
    reads_within: timedelta = READS_WITHIN

    async def index(self, _: Request) -> Response:
        return JSONResponse({"paths": [route.path for route in self.routes()]})

    async def jobs(self, request: Request) -> Response:
        asked = request.query_params
        limit = _limit(asked.get("limit", str(_JOBS)))
        found = await newest_jobs(self.holdfast, limit, asked.get("status"), asked.get("preset"))
        return _document(found)

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
            raise NotFound(f"{name[:80]!r} is no figure's hash; the report names those there are")
        found = await figure_of(self.holdfast, _job_id(request), name)
        return Response(found.data, media_type=found.media_type, headers=_guarded(name, found))

    async def events(self, request: Request) -> Response:
        return await stream(
            self.holdfast.db, self.following, _job_id(request), request,
            reads_within=self.reads_within,
        )  # fmt: skip

    async def provenance(self, request: Request) -> Response:
        mark = _number("mark", request)
        return _document(await provenance_of(self.holdfast, _job_id(request), mark))

    async def source(self, request: Request) -> Response:
        return _document(await source_view(self.holdfast.db, _number("source", request)))

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


def application(api: Api, names: frozenset[str] | None) -> Starlette:
    """The application; with `names`, for those alone who call it by one of them."""
    return Starlette(
        routes=api.routes(),
        middleware=[] if names is None else [Middleware(OnlyNames, names)],
        exception_handlers={
            HoldfastError: on_our_error,
            HTTPException: on_http_error,
            Exception: on_any_error,
        },
    )


def _job_id(request: Request) -> str:
    job_id = str(request.path_params["job"])
    if not job_id.isprintable():
        # PostgreSQL has no text with a NUL in it, so it could not even be asked.
        raise NotFound(f"there is no job {job_id!r}; /jobs has those there are")
    return job_id


def _number(what: str, request: Request) -> int:
    given = str(request.path_params[what])
    if not (given.isascii() and given.isdecimal() and len(given) <= _DIGITS):
        raise NotFound(f"there is no {what} {given[:40]!r}: it has a number")
    return int(given)


def _limit(given: str) -> int:
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:5]) <= _MOST_JOBS):
        raise BadInput(f"limit is a number from 1 to {_MOST_JOBS}, not {given[:40]!r}")
    return int(given[:5])


def _guarded(sha256: str, figure: StoredFigure) -> dict[str, str]:
    """Headers with which an image that somebody else made can do nothing in a browser."""
    is_shown = figure.media_type != SVG or figure.is_ours
    name = f"{sha256[:12]}{ENDINGS[figure.media_type]}"
    return {
        "Content-Security-Policy": _NO_SCRIPT,
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'{"inline" if is_shown else "attachment"}; filename="{name}"',
        # The address holds the hash of what is there.
        "Cache-Control": "private, max-age=31536000, immutable",
    }


def _document(found: BaseModel | Sequence[BaseModel]) -> Response:
    return JSONResponse(_plain(found))


def _plain(found: BaseModel | Sequence[BaseModel]) -> JsonValue:
    if isinstance(found, BaseModel):
        plain: dict[str, JsonValue] = found.model_dump(mode="json")
        return plain
    return [each.model_dump(mode="json") for each in found]
