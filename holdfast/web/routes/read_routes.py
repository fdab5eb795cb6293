"""Define the page of a report: marks with their passages, downloads, figures, and follow-ups."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.routes import evidence_routes
from holdfast.api.routes.evidence_routes import ReportFormat
from holdfast.api.routes.job_submission_routes import submit_job
from holdfast.evidence.source_recheck import recheck_job
from holdfast.jobs.job_lookup import report_of
from holdfast.jobs.job_submission import JobSubmission
from holdfast.reports.check_summary import author_line, check_lines, stage_lines
from holdfast.reports.evidence_table import evidence_rows
from holdfast.reports.report_text import (
    NOT_STATED,
    caption_text,
    confidence_text,
    origin_line,
    possible_text,
    settlement_text,
)
from holdfast.reports.short_answer import short_answer
from holdfast.reports.source_list import cited_documents, passage_place
from holdfast.web.access.page_session import PageAsker, PageJob, SteeredPageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.read.cited_passage import citations_line, load_cited_passage, sentences_line
from holdfast.web.rendering.page_templates import page

_ENDINGS = {ReportFormat.MARKDOWN: "Markdown", ReportFormat.HTML: "HTML, with its figures"}

router = APIRouter(route_class=PageRoute, prefix="/jobs/{job}")


@router.get("/report")
async def read_report(
    job: PageJob,
    request: Request,
    mark: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    did: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """The report; with `mark`, the passage of that citation next to it."""
    report = await report_of(job.holdfast, job.id)
    rows = evidence_rows(report)
    passage = None
    if mark is not None:
        passage = await load_cited_passage(job.holdfast, job.id, report, mark)
    return page(
        request,
        "read",
        tab="report",
        view=await job.holdfast.show(job.id),
        report=report,
        lead=short_answer(report),
        rows=rows,
        documents=cited_documents(report),
        citations_check=citations_line(report),
        sentences_check=sentences_line(report),
        check_lines=check_lines(report),
        stage_lines=stage_lines(report),
        author=author_line(report),
        origin=origin_line(report),
        not_stated=NOT_STATED if rows else "Gaps",
        place=passage_place,
        caption=caption_text,
        sureness=confidence_text,
        possible_text=possible_text,
        settlement=settlement_text,
        chosen=mark,
        passage=passage,
        formats=[(each.value, _ENDINGS.get(each, each.value.upper())) for each in ReportFormat],
        did=did,
    )


@router.get("/download/{form}")
async def download_report(job: PageJob, form: ReportFormat) -> Response:
    """The report as a file."""
    response = await evidence_routes.show_report(job, form)
    name = f"{job.id}.{form.value}"
    response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@router.get("/figures/{sha256}")
async def show_page_figure(job: PageJob, sha256: Annotated[str, Path(max_length=64)]) -> Response:
    """The bytes of a figure."""
    return await evidence_routes.show_figure(job, sha256)


@router.post("/recheck")
async def recheck_from_page(job: SteeredPageJob) -> Response:
    """Read the cited sources again, and compare them with the quotes."""
    await recheck_job(job.holdfast, job.id, by=job.caller.name)
    return RedirectResponse(f"/jobs/{quote(job.id, safe='')}/report?did=rechecked", 303)


@router.post("/follow-up")
async def ask_follow_up(
    job: PageJob, session: PageAsker, question: Annotated[str, Form()] = ""
) -> Response:
    """Ask a question that begins with what this report cites."""
    submission = JobSubmission(question=question, follows=job.id)
    submitted = await submit_job(submission, session, Response(), None)
    return RedirectResponse(f"/jobs/{quote(submitted.job_id, safe='')}?did=asked", 303)
