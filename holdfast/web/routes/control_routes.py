"""Define the forms that change a job; each goes back to the job's page, whose log shows it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response
from pydantic import JsonValue
from starlette.responses import RedirectResponse

from holdfast.api.api_context import JobSession
from holdfast.jobs.job_lookup import plan_revision_of
from holdfast.jobs.open_questions import find_open_question
from holdfast.jobs.written_texts import checked_guidance, checked_words
from holdfast.models.errors import BadInput, PlanMoved, ServiceDown, StorageAway
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.questions.answer_choices import AnswerChoice
from holdfast.planning.strategies.strategy_presets import with_settings
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans.task_queries import load_tasks
from holdfast.web.access.page_session import PageJob, SteeredPageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.amounts import (
    changed_limits,
    check_raised,
    limit_settings,
    plain_number,
)
from holdfast.web.rendering.page_templates import page
from holdfast.web.watch.job_head import load_job_head

_END_WITHIN = timedelta(seconds=20)
_MAX_TASKS = 200

router = APIRouter(route_class=PageRoute, prefix="/jobs/{job}")
Text = Annotated[str, Form()]
LimitName = Literal["max_cost", "max_tokens"]


@router.post("/pause")
async def pause_from_page(job: SteeredPageJob) -> Response:
    """Start no more tasks; running tasks finish."""
    await job.controller.pause(job.id)
    return back_to_job(job, "paused")


@router.post("/resume")
async def resume_from_page(job: SteeredPageJob) -> Response:
    """Continue the job."""
    await job.controller.resume(job.id)
    return back_to_job(job, "resumed")


@router.post("/limit")
async def change_limit_from_page(
    job: SteeredPageJob,
    max_cost: Text = "",
    max_tokens: Text = "",
    unlimited: Annotated[tuple[LimitName, ...], Form()] = (),
) -> Response:
    """Continue the job under another limit, or without; a job that runs is paused for it."""
    stored = await job_rows.load_job(job.holdfast.db, job.id)
    before, is_running = stored.request.strategy, stored.status is JobStatus.RUNNING
    written = limit_settings(max_cost, max_tokens)
    _check_one_request(changed_limits(written, before), unlimited)
    changes = changed_limits(written | dict.fromkeys(unlimited), before)
    if not changes:
        raise BadInput(
            "no limit was changed: an empty field keeps its limit; give another limit in money "
            "or in tokens, or take one away"
        )
    strategy = with_settings(before, changes)
    if is_running:
        await job.controller.pause(job.id)
    try:
        await job.controller.resume(job.id, strategy)
    except (ServiceDown, StorageAway):
        if not is_running:
            raise
        # The page of the error would say that nothing was changed.
        return back_to_job(job, "paused-for-limit")
    # Work that began without a limit does not look for one.
    return back_to_job(job, "limited" if before.is_capped or not is_running else "limited-next")


def _check_one_request(changed: Mapping[str, JsonValue], unlimited: Sequence[LimitName]) -> None:
    """Check that no limit is both given another number and taken away.

    Raises:
        BadInput: one is; the form shows the present limit, which does not count.
    """
    if both := changed.keys() & set(unlimited):
        where = "tokens" if "max_tokens" in both else "money"
        raise BadInput(
            f"the limit in {where} has a new number and is to be taken away; leave one of the two"
        )


@router.post("/cancel")
async def cancel_from_page(job: SteeredPageJob) -> Response:
    """Stop the job and its calls in flight; its findings are kept."""
    await job.controller.cancel(job.id)
    return back_to_job(job, "cancelled")


@router.post("/steer")
async def steer_from_page(job: SteeredPageJob, guidance: Text = "") -> Response:
    """Give guidance for the next planning."""
    await job.controller.steer(job.id, checked_guidance(guidance))
    return back_to_job(job, "steered")


@router.post("/report-now")
async def report_from_page(job: SteeredPageJob) -> Response:
    """Stop the job if it is under way, and write a report of what it has found."""
    tasks = await load_tasks(job.holdfast.db, job.id)
    if not any(each.task.status is TaskStatus.DONE for each in tasks):
        raise BadInput("no task is done yet, so there is nothing to report; the job goes on")
    if not (await job_rows.load_job(job.holdfast.db, job.id)).status.is_final:
        await job.controller.cancel(job.id)
        await _wait_for_end(job)
    await job.controller.write_partial_report(job.id)
    return back_to_job(job, "reporting")


@router.get("/retry")
async def preview_retry_on_page(
    job: PageJob, request: Request, task: Annotated[list[str], Query(max_length=_MAX_TASKS)]
) -> Response:
    """Name what would run again and what is kept, before anything is paid."""
    head = await load_job_head(job.holdfast, job.id)
    scope = await job.controller.preview_retry(job.id, task)
    by_id = {each.task.id: each.task for each in await load_tasks(job.holdfast.db, job.id)}
    return page(
        request, "retry", tab="progress", view=head, names=task,
        rerun=[by_id[name] for name in scope.rerun if name in by_id],
        kept=[by_id[name] for name in scope.kept if name in by_id],
    )  # fmt: skip


@router.post("/retry")
async def retry_from_page(job: SteeredPageJob, task: Annotated[list[str], Form()]) -> Response:
    """Run tasks and the tasks that depend on them again."""
    await job.controller.retry(job.id, list(dict.fromkeys(task))[:_MAX_TASKS])
    return back_to_job(job, "retried")


@router.post("/questions/{question}")
async def answer_from_page(
    job: SteeredPageJob,
    question: int,
    choice: Text = "",
    text: Text = "",
    plan: Text = "",
    revision: Text = "",
    max_cost: Text = "",
    max_tokens: Text = "",
) -> Response:
    """Answer an open question; an answer about a plan counts for the plan that was shown."""
    await find_open_question(job.holdfast.db, job.id, question)
    if revision:
        await check_shown_plan(job, revision)
    if choice == AnswerChoice.RAISE:
        strategy = (await job_rows.load_job(job.holdfast.db, job.id)).request.strategy
        limits = _raised_limits(strategy, max_cost, max_tokens)
        if len(limits) > 1:
            # An answer names one limit; a job that is resumed withdraws its question.
            await job.controller.resume(job.id, with_settings(strategy, limits))
            return back_to_job(job, "limited")
        [(name, limit)] = limits.items()
        words = f"{name}={plain_number(limit)}"
    else:
        words = {"edit": plan, "approve": "", "refuse": ""}.get(choice, text)
    await job.controller.answer(job.id, question, choice, checked_words(choice, words))
    return back_to_job(job, "answered")


def _raised_limits(strategy: Strategy, max_cost: str, max_tokens: str) -> dict[str, JsonValue]:
    """The new limits of a job that reached its limit.

    Raises:
        BadInput: none was given, or one is not above the limit of the job.
    """
    limits = limit_settings(max_cost, max_tokens)
    if not limits:
        raise BadInput("give a new limit, in money or in tokens; the job is paused until then")
    check_raised(limits, strategy)
    return limits


async def check_shown_plan(job: JobSession, revision: str) -> None:
    """Check that the plan is the one that a page showed.

    Raises:
        PlanMoved: it has another revision now.
    """
    # A new plan comes with a question of its own, so no plan can slip in after this check.
    if revision != str(await plan_revision_of(job.holdfast, job.id)):
        raise PlanMoved("the plan has changed since this page was loaded; look at it again")


async def _wait_for_end(job: JobSession) -> None:
    """Wait until the cancelled job has ended.

    Raises:
        BadInput: it has not ended yet.
    """
    ended = await job.holdfast.wait(job.id, _END_WITHIN)
    if not ended.status.is_final:
        raise BadInput(
            "the job is being cancelled, and a running call takes long to stop; ask for the report "
            "again in a moment"
        )


def back_to_job(job: JobSession, did: str) -> Response:
    """A redirect to the page of the job, which says what was done."""
    return RedirectResponse(f"/jobs/{quote(job.id, safe='')}?did={did}", 303)
