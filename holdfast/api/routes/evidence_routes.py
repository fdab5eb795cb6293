"""Define the routes of reports, figures, sources and what a citation comes from."""

import asyncio
import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse

from holdfast.api.api_context import JobSession, ReadJob, SteeredJob
from holdfast.api.described_files import BINARY, LIST, TEXT
from holdfast.api.path_numbers import RowNumber
from holdfast.evidence.evidence_retraction import retract_job_evidence
from holdfast.evidence.report_provenance import provenance_of
from holdfast.evidence.source_recheck import RecheckResult, recheck_job
from holdfast.jobs.job_lookup import report_of
from holdfast.models.calls.tool_figures import FIGURE_EXTENSIONS, SVG, StoredFigure
from holdfast.models.error_fields import error_field
from holdfast.models.errors import NotFound
from holdfast.models.evidence.evidence import Report, Retraction
from holdfast.models.frozen_model import Frozen
from holdfast.models.reports.provenance_views import Provenance, SourceView
from holdfast.rederivation.job_rederivation import rederive_job
from holdfast.rederivation.rederived_decisions import Rederivation
from holdfast.reports.exports.report_files import report_file
from holdfast.reports.figure_export import (
    load_figure_images,
    load_job_figure,
    to_standalone_html,
)
from holdfast.reports.markdown_and_json_rendering import to_json, to_markdown
from holdfast.reports.report_document import ReportDocument
from holdfast.reports.report_format import ReportFormat
from holdfast.storage.evidence.source_queries import load_source_view

_HASH = re.compile(r"[0-9a-f]{64}")
_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

router = APIRouter(prefix="/jobs/{job}", tags=["evidence"])


class RetractionBody(Frozen):
    """A piece of evidence to withdraw."""

    evidence: int = Field(
        strict=True, ge=1, le=2**63 - 1, description="Its number in the report's sources."
    )
    reason: str = Field(min_length=1, max_length=500, description="Why; the log keeps it.")


_DESCRIBED = {ReportFormat.MARKDOWN: TEXT, ReportFormat.HTML: TEXT, ReportFormat.CSL: LIST}
_REPORT_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            each.media_type: _DESCRIBED.get(each, BINARY)
            for each in ReportFormat
            # The answer's model describes the JSON.
            if each is not ReportFormat.JSON
        }
    }
}
_FIGURE: dict[int | str, dict[str, Any]] = {
    200: {"content": dict.fromkeys(FIGURE_EXTENSIONS, BINARY)}
}


@router.get("/report", response_model=ReportDocument, responses=_REPORT_FORMS)
async def show_report(
    job: ReadJob,
    form: Annotated[ReportFormat, Query(alias="format")] = ReportFormat.JSON,
) -> Response:
    """The delivered report as JSON, as Markdown, as one HTML page, or as another program's file."""
    report = await report_of(job.holdfast, job.id)
    if form.is_file:
        return await _report_file(job, report, form)
    if form is ReportFormat.MARKDOWN:
        return PlainTextResponse(to_markdown(report), media_type=form.media_type)
    if form is ReportFormat.HTML:
        images = await load_figure_images(job.holdfast, job.id, report, all_forms=False)
        page = to_standalone_html(report, images)
        return HTMLResponse(page, headers={"Content-Security-Policy": _NO_SCRIPT})
    return JSONResponse(dict(to_json(report)))


@router.get("/figures/{sha256}", response_class=Response, responses=_FIGURE)
async def show_figure(job: ReadJob, sha256: str) -> Response:
    """The bytes of a figure, by the hash in `figures[].forms[]` of the report."""
    if not _HASH.fullmatch(sha256):
        raise NotFound(
            f"{sha256[:80]!r} is not the hash of a figure; the report names its figures",
            field="sha256",
        )
    with error_field("sha256"):
        figure = await load_job_figure(job.holdfast, job.id, sha256)
    headers = _image_headers(sha256, figure)
    return Response(figure.data, media_type=figure.media_type, headers=headers)


@router.get("/provenance/{mark}")
async def trace_citation(job: ReadJob, mark: RowNumber) -> Provenance:
    """Where a citation of the report comes from: passage, calls and Temporal's history."""
    return await provenance_of(job.holdfast, job.id, mark)


@router.get("/sources/{source}")
async def show_source(job: ReadJob, source: RowNumber) -> SourceView:
    """A source that the job quotes, with its text and the quotes."""
    return await load_source_view(job.holdfast.db, source, job_id=job.id)


@router.post("/recheck")
async def recheck_sources(job: SteeredJob) -> RecheckResult:
    """Read the cited sources again, and say whether the quotes are still there."""
    return await recheck_job(job.holdfast, job.id, by=job.caller.name)


@router.get("/rederivation")
async def rederive_decisions(job: ReadJob) -> Rederivation:
    """Plan changes, verdicts and delivery checks, derived again without a model and compared."""
    return await rederive_job(job.holdfast, job.id)


@router.post("/retractions")
async def retract_evidence(job: SteeredJob, body: RetractionBody) -> Retraction:
    """Withdraw a piece of evidence; the answer names everything that depends on it."""
    return await retract_job_evidence(
        job.holdfast.db, job.id, body.evidence, reason=body.reason, by=job.caller.name
    )


async def _report_file(job: JobSession, report: Report, form: ReportFormat) -> Response:
    images = await load_figure_images(job.holdfast, job.id, report, all_forms=True)
    content = await asyncio.to_thread(report_file, report, images, form)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(job.id)}{form.ending}"}
    return Response(content, media_type=form.media_type, headers=headers)


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
