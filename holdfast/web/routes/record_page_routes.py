"""Define the pages that fork a job, with an edited plan or another model, and compare two jobs."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.api_context import JobSession, check_visible_job
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.job_lookup import plan_of
from holdfast.planning.plans.plan_edits import MAX_PLAN_CHARS, plan_as_yaml
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_comparison import compare_jobs
from holdfast.records.job_forking import fork_plan, prepare_fork, start_fork
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.web.access.page_session import AskedPageJob, PageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page

_MAX_TASKS = 200

router = APIRouter(route_class=PageRoute, prefix="/jobs/{job}")
Text = Annotated[str, Form()]
Names = Annotated[list[str] | None, Form(max_length=_MAX_TASKS)]


@router.get("/fork")
async def show_fork_form(
    job: AskedPageJob,
    request: Request,
    task: Annotated[list[str] | None, Query(max_length=_MAX_TASKS)] = None,
) -> Response:
    """The form that changes a job: its tasks, its model, and its plan."""
    return await _fork_page(job, request, tasks=task or [], model="", plan="")


@router.post("/fork")
async def fork_from_page(
    job: AskedPageJob,
    request: Request,
    task: Names = None,
    model: Text = "",
    plan: Annotated[str, Form(max_length=MAX_PLAN_CHARS)] = "",
    confirmed: Text = "",
) -> Response:
    """Name what the fork runs, keeps and costs; once that is confirmed, start it."""
    tasks = list(dict.fromkeys(name for each in task or [] for name in each.split()))
    text = plan.replace("\r\n", "\n").strip()
    stored = plan_as_yaml(await plan_of(job.holdfast, job.id)).strip()
    submission = ForkSubmission(
        tasks=tuple(tasks),
        model=model.strip() or None,
        plan=text if text and text != stored else None,
    )
    caller = job.caller
    prepared = await prepare_fork(
        job.holdfast, job.id, submission, owner=caller.owner, by=caller.name
    )
    if not confirmed:
        shown = fork_plan(prepared, read_prices(job.holdfast.settings.config_file))
        return await _fork_page(job, request, tasks=tasks, model=model, plan=text, fork=shown)
    forked = await start_fork(job.holdfast, prepared, by=caller.name, key_id=caller.key_id)
    return RedirectResponse(f"/jobs/{quote(forked.job_id, safe='')}", 303)


@router.get("/compare")
async def compare_on_page(
    job: PageJob, request: Request, other: Annotated[str, Query(max_length=200)]
) -> Response:
    """Two jobs next to each other."""
    return await _compare_page(job, request, other, model=None)


@router.post("/compare")
async def compare_by_model_on_page(
    job: AskedPageJob,
    request: Request,
    other: Annotated[str, Form(max_length=200)],
    model: Annotated[str, Form(max_length=200)],
) -> Response:
    """Two jobs next to each other, with claims that a model matched."""
    return await _compare_page(job, request, other, model=model.strip())


async def _compare_page(
    job: JobSession, request: Request, other: str, *, model: str | None
) -> Response:
    await check_visible_job(job, other)
    return page(
        request,
        "compare",
        tab="",
        view=await job.holdfast.show(job.id),
        report=await load_report(job.holdfast.db, job.id),
        found=await compare_jobs(
            job.holdfast, job.id, other, model=model, installation=job.context.holdfast
        ),
    )


async def _fork_page(
    job: JobSession,
    request: Request,
    *,
    tasks: list[str],
    model: str,
    plan: str,
    fork: object = None,
) -> Response:
    stored = plan_as_yaml(await plan_of(job.holdfast, job.id))
    return page(
        request,
        "fork",
        tab="",
        view=await job.holdfast.show(job.id),
        report=await load_report(job.holdfast.db, job.id),
        tasks=tasks,
        model=model,
        plan=plan or stored,
        fork=fork,
    )
