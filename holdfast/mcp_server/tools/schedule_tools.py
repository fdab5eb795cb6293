"""Define the tools that ask a question at certain times, and list and change these schedules."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from holdfast.api.routes.schedule_routes import NewScheduleBody, created_schedule
from holdfast.jobs.job_submission import JobSubmission
from holdfast.mcp_server.caller_access import ToolCalls
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.schedules.schedule import ScheduledRun, ScheduleStatus, ScheduleView
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    set_status,
)

_LISTED_RUNS = 5
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_MAKES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)
ScheduleId = Annotated[
    str, Field(description="The schedule's id, from research_schedules.", max_length=200)
]


class ScheduleChange(StrEnum):
    """What is done with a schedule."""

    PAUSE = "pause"
    RESUME = "resume"
    RUN = "run"
    END = "end"


class ScheduleList(Frozen):
    """The caller's schedules; ended ones come last."""

    schedules: tuple[ScheduleView, ...]


class ScheduleState(Frozen):
    """A schedule with its newest runs, and what changed from one run to the next."""

    schedule: ScheduleView
    runs: tuple[ScheduledRun, ...]


_STATUSES = {
    ScheduleChange.PAUSE: ScheduleStatus.PAUSED,
    ScheduleChange.RESUME: ScheduleStatus.ACTIVE,
    ScheduleChange.END: ScheduleStatus.ENDED,
}


def add_schedule_tools(server: ResearchServer, calls: ToolCalls) -> None:
    """Add `research_schedule`, `research_schedules` and `research_change_schedule`."""

    async def research_schedule(
        times: Annotated[
            str,
            Field(
                description="Such as `daily 08:00`, `weekly on monday 08:00`, `every 6h`.",
                max_length=120,
            ),
        ],
        ctx: Context[Any, Any],
        question: Annotated[
            str | None, Field(description="What each run finds out.", max_length=20_000)
        ] = None,
        update: Annotated[
            str | None,
            Field(
                description="Instead of a question, and without a collection, preset or model: the "
                "job whose report each run updates.",
                max_length=200,
            ),
        ] = None,
        collection: Annotated[
            str | None, Field(description="With `question`: the collection to read.")
        ] = None,
        preset: Annotated[str | None, Field(description="How to work; leave it out.")] = None,
        model: Annotated[str | None, Field(description="Which model; leave it out.")] = None,
        time_zone: Annotated[
            str, Field(description="The user's, such as Europe/Berlin.", max_length=60)
        ] = "UTC",
        runs: Annotated[
            int | None, Field(description="End after so many runs.", ge=1, le=100_000)
        ] = None,
    ) -> ScheduleView:
        """Ask a question, or update a report, again at certain times, until the user ends it."""
        tool = "research_schedule"
        async with calls.open(ctx.request_context, tool, Scope.ASK, update) as known:
            _check_one_kind(
                question, update, {"collection": collection, "preset": preset, "model": model}
            )
            ask = None
            if question is not None:
                ask = JobSubmission(
                    question=question, collection=collection, preset=preset, model=model
                )
            body = NewScheduleBody(
                times=times, ask=ask, update=update, time_zone=time_zone, runs=runs
            )
            return await created_schedule(known, body)

    async def research_schedules(
        ctx: Context[Any, Any],
    ) -> ScheduleList:
        """The schedules with their last and next run."""
        async with calls.open(ctx.request_context, "research_schedules", Scope.READ) as known:
            found = await list_schedules(known.holdfast, known.caller.visible_owner)
            return ScheduleList(schedules=tuple(found))

    async def research_change_schedule(
        schedule: ScheduleId,
        change: Annotated[
            ScheduleChange,
            Field(description="`run` begins a run now; `end` is for good, and keeps the jobs."),
        ],
        ctx: Context[Any, Any],
    ) -> ScheduleState:
        """Pause, resume, run or end a schedule; the answer has its newest runs."""
        tool = "research_change_schedule"
        subject = f"{schedule} {change.value}"
        async with calls.open(ctx.request_context, tool, Scope.ASK, subject=subject) as known:
            owner = known.caller.visible_owner
            if change is ScheduleChange.RUN:
                shown = await run_now(known.holdfast, schedule, owner)
            else:
                shown = await set_status(known.holdfast, schedule, owner, _STATUSES[change])
            runs = await runs_of_schedule(known.holdfast, schedule, owner, limit=_LISTED_RUNS)
            return ScheduleState(schedule=shown, runs=tuple(runs))

    server.add_tool(research_schedule, annotations=_MAKES)
    server.add_tool(research_schedules, annotations=_READS)
    server.add_tool(research_change_schedule, annotations=_CHANGES)


def _check_one_kind(
    question: str | None, update: str | None, of_questions: Mapping[str, str | None]
) -> None:
    """Refuse a call that asks and updates, and arguments that an update would leave out.

    Raises:
        BadInput: the call gives both or neither, or an argument of a question with an update.
    """
    if (question is None) == (update is None):
        raise BadInput("give either `question`, or `update`, the id of a job with a report")
    named = [name for name, value in of_questions.items() if value is not None]
    if update is not None and named:
        raise BadInput(
            f"{' and '.join(named)} cannot be given with `update`: each run works as the job "
            "whose report it updates; leave them out, or give a `question`"
        )
