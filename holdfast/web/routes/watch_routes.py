"""Define the pages of one job: its progress, a task, a loop, the log, the calls, the stream."""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response

from holdfast.api.api_context import JobSession
from holdfast.api.server_sent_events import event_stream_response
from holdfast.configuration.price_settings import read_prices
from holdfast.evidence.activity_history import JobHistories
from holdfast.jobs.waterfall import waterfall
from holdfast.models.errors import NotFound
from holdfast.models.tasks.stored_task import plan_of
from holdfast.models.wire.event_kinds import EventKind
from holdfast.models.wire.stored_keys import task_activity
from holdfast.planning.plans.plan_edits import plan_as_yaml
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.plans.task_queries import load_tasks
from holdfast.storage.plans.transcript_rows import LoopAttempt, load_transcript
from holdfast.storage.views.job_queries import events_after, job_calls, job_spending, newest_events
from holdfast.storage.views.task_call_queries import tool_uses_of
from holdfast.web.access.page_session import PageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.page_templates import page
from holdfast.web.watch.current_work import current_work
from holdfast.web.watch.job_head import load_job_head
from holdfast.web.watch.job_page import (
    JobPage,
    find_task,
    first_shown_task,
    load_job_page,
    load_task_details,
)
from holdfast.web.watch.log_lines import log_line
from holdfast.web.watch.loop_conversation import conversation
from holdfast.web.watch.plan_drawing import draw_plan, finding_text
from holdfast.web.watch.shared_loads import SharedLoads
from holdfast.web.watch.task_list import list_tasks

_SHOWN_ENTRIES = 12
_LOG_PAGE = 200
_SHOWN_ATTEMPTS = 10
_SHOWN_CALLS = 60
_KINDS = " ".join(kind.value for kind in EventKind)

router = APIRouter(route_class=PageRoute)


@router.get("/jobs/{job}")
async def show_progress(
    job: PageJob,
    request: Request,
    task: Annotated[str, Query(max_length=64)] = "",
    revision: Annotated[int | None, Query(ge=0, le=10_000)] = None,
    phase: Annotated[int | None, Query(ge=1, le=10**6)] = None,
    start: Annotated[int, Query(ge=0, le=10**6)] = 0,
    row: Annotated[int, Query(ge=0, le=10**6)] = 0,
    did: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """What the job does now, its plan, where the time went, and the newest entries of its log."""
    shown = await _load_shared(job, request)
    seen = shown.view
    approval = next((each for each in shown.status.questions if each.kind == "approval"), None)
    async with job.holdfast.db.shared_reading() as db:
        newest = await newest_events(db, job.id, _SHOWN_ENTRIES)
        guidance = await guidance_of(db, job.id)
        panel = task or first_shown_task(shown.tasks)
        details = await load_task_details(db, shown, panel) if panel else None
    plan_yaml = plan_as_yaml(plan_of(shown.tasks)) if approval else ""
    drawing = draw_plan(shown.tasks, shown.changes, revision=revision, chosen=task)
    return page(
        request,
        "watch",
        tab="progress",
        view=seen,
        status=shown.status,
        report=shown.report,
        strategy=shown.job.request.strategy,
        work=current_work(shown.job, seen, shown.status),
        drawing=drawing,
        address=_addresses(
            job.id, task=task, revision=revision, phase=phase, start=start or None, row=row or None
        ),
        changes=shown.changes,
        revision=revision,
        chosen=task,
        details=details,
        finding_text=finding_text,
        listed=list_tasks(shown.tasks, drawing.phases, phase=phase, start=start),
        fall=waterfall(
            shown.tasks,
            shown.calls,
            seen.recoveries,
            shown.job.created_at,
            shown.job.finished_at if shown.job.status.is_final else None,
            idle=shown.idle,
            first=row,
        ),
        entries=[log_line(each) for each in reversed(newest)],
        guidance=guidance,
        last_entry=newest[-1].seq if newest else 0,
        kinds=_KINDS,
        plan_yaml=plan_yaml,
        did=did,
    )


@router.get("/jobs/{job}/events")
async def follow_job(job: PageJob, request: Request) -> Response:
    """The job's log as a stream of events, from the entry that the request names on."""
    return await event_stream_response(job, request)


@router.get("/jobs/{job}/newest")
async def show_newest_entries(job: PageJob, request: Request) -> Response:
    """The newest entries of the log: the part of the job's page that an event changes at once."""
    newest = await newest_events(job.holdfast.db, job.id, _SHOWN_ENTRIES)
    return page(request, "newest", entries=[log_line(each) for each in reversed(newest)])


@router.get("/jobs/{job}/loop/{task}")
async def show_loop(
    job: PageJob, request: Request, task: str, attempt: Annotated[int | None, Query(ge=1)] = None
) -> Response:
    """The dialogue of a cited loop."""
    head = await load_job_head(job.holdfast, job.id)
    stored = find_task(await load_tasks(job.holdfast.db, job.id), job.id, task)
    number = attempt or max(stored.attempt, 1)
    transcript = await load_transcript(job.holdfast.db, job.id, LoopAttempt(task, number))
    if not transcript.messages:
        raise NotFound(f"attempt {number} at {task} is no dialogue, or has not begun")
    return page(
        request,
        "loop",
        tab="progress",
        view=head,
        task=stored.task,
        attempt=number,
        attempts=stored.attempt,
        turns=conversation(transcript),
        compactions=transcript.compactions,
    )


@router.get("/jobs/{job}/tasks/{task}")
async def show_task_record(job: PageJob, request: Request, task: str) -> Response:
    """What the tools were asked for a task and answered, and its attempts in Temporal."""
    head = await load_job_head(job.holdfast, job.id)
    stored = await load_tasks(job.holdfast.db, job.id)
    found = find_task(stored, job.id, task)
    steps = [each.task.id for each in stored if each.task.parent == task]
    histories = JobHistories(job.holdfast, job.id)
    newest = range(found.attempt, max(0, found.attempt - _SHOWN_ATTEMPTS), -1)
    return page(
        request,
        "task_record",
        tab="progress",
        view=head,
        task=found.task,
        uses=await tool_uses_of(job.holdfast.db, job.id, [task, *steps], _SHOWN_CALLS),
        places=[
            (number, await histories.place(task_activity(task, number), None)) for number in newest
        ],
    )


@router.get("/jobs/{job}/log")
async def show_log(
    job: PageJob, request: Request, after: Annotated[int, Query(ge=0, le=2**62)] = 0
) -> Response:
    """The job's log, a page at a time."""
    entries = await events_after(job.holdfast.db, job.id, after, _LOG_PAGE + 1)
    return page(
        request,
        "log",
        tab="log",
        view=await load_job_head(job.holdfast, job.id),
        entries=[log_line(each) for each in entries[:_LOG_PAGE]],
        next=entries[_LOG_PAGE - 1].seq if len(entries) > _LOG_PAGE else 0,
        is_first=after == 0,
    )


@router.get("/jobs/{job}/calls")
async def show_calls(
    job: PageJob, request: Request, start: Annotated[int, Query(ge=0, le=10**6)] = 0
) -> Response:
    """Every call with its tokens and cost, and what each part of the job spent."""
    head = await load_job_head(job.holdfast, job.id)
    db, config = job.holdfast.db, job.holdfast.settings.config_file
    calls = await job_calls(db, job.id, start=start, limit=_LOG_PAGE + 1)
    return page(
        request,
        "calls",
        tab="calls",
        view=head,
        spent=(await job_spending(db, job.id)).spent,
        currency=read_prices(config).currency,
        calls=calls[:_LOG_PAGE],
        start=start,
        next=start + _LOG_PAGE if len(calls) > _LOG_PAGE else 0,
    )


async def _load_shared(job: JobSession, request: Request) -> JobPage:
    """The job's records, read once for all tabs that an event wakes together."""
    loads: SharedLoads[JobPage] = request.app.state.job_pages
    key = (job.caller.visible_owner, job.id)
    return await loads.load(key, lambda: load_job_page(job.holdfast, job.id))


def _addresses(job_id: str, **shown: object) -> Callable[..., str]:
    """A function that gives the address of this page with something else chosen."""

    def address(**changes: object) -> str:
        # Change 0 of the plan is one that can be shown.
        chosen = (shown | changes).items()
        values = {name: value for name, value in chosen if value not in (None, "")}
        query = f"?{urlencode(values)}" if values else ""
        return f"/jobs/{quote(job_id, safe='')}{query}"

    return address
