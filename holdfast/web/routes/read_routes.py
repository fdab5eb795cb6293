"""Define the page of a report: marks with their passages, downloads, figures, and follow-ups."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.routes import bundle_routes, evidence_routes
from holdfast.api.routes.job_submission_routes import submit_job
from holdfast.evidence.source_recheck import recheck_job
from holdfast.jobs.job_lookup import report_of
from holdfast.jobs.job_submission import JobSubmission
from holdfast.models.errors import NotFound
from holdfast.reports.report_format import ReportFormat
from holdfast.reports.report_parts import TEXT_FUNCTIONS, report_parts
from holdfast.web.access.page_session import PageAsker, PageJob, SteeredPageJob
from holdfast.web.page_route import PageRoute, error_page
from holdfast.web.read.cited_passage import citations_line, load_cited_passage, sentences_line
from holdfast.web.rendering.page_templates import page
from holdfast.web.watch.job_head import load_job_head

_NAMES = {
    ReportFormat.MARKDOWN: "Markdown",
    ReportFormat.HTML: "HTML, with its figures",
    ReportFormat.DOCX: "Word, with quotes as comments",
    ReportFormat.CSL: "References (CSL-JSON)",
    ReportFormat.BIBTEX: "BibTeX",
    ReportFormat.OBSIDIAN: "Obsidian",
}

_MOST_SHOWN = 300
"""Elements of one part of a report on its page; a download has all."""

router = APIRouter(route_class=PageRoute, prefix="/jobs/{job}")


@router.get("/report")
async def read_report(
    job: PageJob,
    request: Request,
    mark: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    did: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """The report; with `mark`, the passage of that citation next to it."""
    try:
        report = await report_of(job.holdfast, job.id)
    except NotFound as error:
        return error_page(request, str(error), 404, has_job=True)
    passage = None
    if mark is not None:
        passage = await load_cited_passage(job.holdfast, job.id, report, mark)
    return page(
        request,
        "read",
        tab="report",
        view=await load_job_head(job.holdfast, job.id),
        citations_check=citations_line(report),
        sentences_check=sentences_line(report),
        chosen=mark,
        passage=passage,
        formats=[(each.value, _NAMES.get(each, each.value.upper())) for each in ReportFormat],
        did=did,
        most=_MOST_SHOWN,
        **report_parts(report),
        **TEXT_FUNCTIONS,
    )


@router.get("/download/{form}")
async def download_report(job: PageJob, form: ReportFormat) -> Response:
    """The report as a file."""
    response = await evidence_routes.show_report(job, form)
    if "Content-Disposition" not in response.headers:
        name = f"{job.id}.{form.value}"
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@router.get("/bundle")
async def download_bundle(job: PageJob) -> Response:
    """The whole job as one file."""
    return await bundle_routes.export_job(job)


@router.get("/figures/{sha256}")
async def show_page_figure(job: PageJob, sha256: Annotated[str, Path(max_length=64)]) -> Response:
    """The bytes of a figure."""
    return await evidence_routes.show_figure(job, sha256)


@router.post("/recheck")
async def recheck_from_page(job: SteeredPageJob) -> Response:
    """Read the cited sources again, and compare them with the quotes."""
    result = await recheck_job(job.holdfast, job.id, by=job.caller.name)
    did = "rechecked" if all(each.is_read for each in result.folders) else "rechecked-older"
    return RedirectResponse(f"/jobs/{quote(job.id, safe='')}/report?did={did}", 303)


@router.post("/follow-up")
async def ask_follow_up(
    job: PageJob, session: PageAsker, question: Annotated[str, Form()] = ""
) -> Response:
    """Ask a question that begins with what this report cites."""
    submission = JobSubmission(question=question, follows=job.id)
    submitted = await submit_job(submission, session, Response(), None)
    return RedirectResponse(f"/jobs/{quote(submitted.job_id, safe='')}?did=asked", 303)
