"""Define the pages that fork a job with any change of it, and compare two jobs."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from starlette.responses import RedirectResponse

from holdfast.api.api_context import JobSession, check_visible_job
from holdfast.api.problem_documents import status_of_error
from holdfast.capabilities.model_lines import model_lines
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.job_lookup import find_job_id, plan_of
from holdfast.models.errors import BadInput, HoldfastError, NotFound
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, Strategy
from holdfast.planning.plans.plan_edits import own_tasks, plan_as_yaml
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.records.fork_submission import ForkPlan, ForkSubmission
from holdfast.records.job_comparison import compare_jobs
from holdfast.records.job_forking import fork_plan, prepare_fork, start_fork
from holdfast.web.access.page_session import AskedPageJob, PageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.fork_form import ForkForm
from holdfast.web.rendering.page_templates import page
from holdfast.web.watch.job_head import load_job_head

_MAX_TASKS = 200
_MOST_CHOICES = 60
"""The tasks of a longer plan are named by their ids, and not chosen from a list."""

router = APIRouter(route_class=PageRoute, prefix="/jobs/{job}")


@router.get("/fork")
async def show_fork_form(
    job: AskedPageJob,
    request: Request,
    task: Annotated[list[str] | None, Query(max_length=_MAX_TASKS)] = None,
    retract: Annotated[str, Query(max_length=2_000)] = "",
) -> Response:
    """The form that changes a job: its tasks, model, preset, settings, evidence and plan."""
    return await _fork_page(job, request, ForkForm(task=tuple(task or ()), retract=retract))


@router.post("/fork")
async def fork_from_page(
    job: AskedPageJob, request: Request, form: Annotated[ForkForm, Form()]
) -> Response:
    """Name what the fork runs, keeps and costs; once that is confirmed, start it.

    The form comes back with what cannot be used.
    """
    caller = job.caller
    try:
        submission = form.submission(plan_as_yaml(await plan_of(job.holdfast, job.id)))
        _check_changes(submission)
        prepared = await prepare_fork(
            job.holdfast, job.id, submission, owner=caller.owner, by=caller.name
        )
    except (BadInput, NotFound) as error:
        return await _fork_page(job, request, form, fault=error)
    if not form.confirmed:
        shown = fork_plan(prepared, read_prices(job.holdfast.settings.config_file))
        return await _fork_page(job, request, form, fork=shown)
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


async def _job_of(job: JobSession, text: str) -> str:
    """The job that the text names; a caller who sees all jobs may give the beginning of its id.

    Raises:
        NotFound: the caller sees no such job.
        BadInput: several ids begin so.
    """
    is_beginning = job.caller.visible_owner is None and text.isprintable()
    name = await find_job_id(job.holdfast.db, text) if is_beginning else text
    await check_visible_job(job, name)
    return name


async def _compare_page(
    job: JobSession, request: Request, other: str, *, model: str | None
) -> Response:
    other = await _job_of(job, other.strip())
    found = await compare_jobs(
        job.holdfast, job.id, other, model=model, installation=job.context.holdfast
    )
    return page(
        request,
        "compare",
        tab="",
        view=await load_job_head(job.holdfast, job.id),
        other=await load_job_head(job.holdfast, other),
        models=_matchers(job, found.second.model),
        found=found,
    )


def _matchers(job: JobSession, used: str) -> list[str]:
    """The models that can match claims; the one that the second job used may have no table."""
    lines = model_lines(job.holdfast.settings)
    usable = [each.name for each in lines if not each.fault]
    if used not in {each.name for each in lines}:
        usable.append(used)
    return [name for name in usable if name != EXTRACTIVE_MODEL]


def _check_changes(submission: ForkSubmission) -> None:
    """Check that the form changes something; the method's message names options of the command.

    Raises:
        BadInput: it changes nothing.
    """
    if submission == ForkSubmission():
        raise BadInput("nothing is changed yet; choose a task to do again, or another change")


async def _fork_page(
    job: JobSession,
    request: Request,
    form: ForkForm,
    *,
    fork: ForkPlan | None = None,
    fault: HoldfastError | None = None,
) -> Response:
    plan = await plan_of(job.holdfast, job.id)
    stored = plan_as_yaml(plan)
    # As it is stored, and not with the ends of lines that a browser sends: a page shows those.
    edited = form.edited_plan(stored)
    form = form.model_copy(update={"plan": edited or ""})
    return page(
        request,
        "fork",
        tab="",
        code=200 if fault is None else status_of_error(fault),
        view=await load_job_head(job.holdfast, job.id),
        form=form,
        tasks=own_tasks(plan),
        most_tasks=_MOST_CHOICES,
        models=model_lines(job.holdfast.settings),
        presets=all_presets(),
        settings=sorted(Strategy.model_fields),
        plan=edited or stored,
        is_plan_edited=edited is not None,
        fork=fork,
        changes=form.changes_in_words(stored) if fork else (),
        fault=fault,
    )
