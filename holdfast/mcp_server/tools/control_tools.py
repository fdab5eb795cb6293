"""Define the tools that answer a job's questions, guide, continue, repeat and stop it."""

from datetime import timedelta
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from holdfast.jobs.open_questions import find_open_question
from holdfast.jobs.written_texts import checked_answer, checked_guidance
from holdfast.mcp_server.caller_access import KnownCaller, ToolCalls
from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.mcp_server.job_states import state_of
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.mcp_server.tool_answers import ResearchState
from holdfast.mcp_server.tools.argument_types import JobId
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadInput
from holdfast.models.questions.control_requests import RerunScope
from holdfast.storage.jobs import job_rows

_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_STOPS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
_END_WITHIN = timedelta(seconds=8)
_WRITES = "the job writes a report of what it found; call research_wait"


def add_control_tools(server: ResearchServer, calls: ToolCalls) -> None:
    """Add the tools that answer questions of a job, and guide, continue, repeat and stop it."""

    async def research_answer(
        job: JobId,
        question: Annotated[
            int, Field(description="The question's number, from the state.", ge=1, le=2**62)
        ],
        ctx: Context[Any, Any],
        choice: Annotated[
            str, Field(description="One of the question's choices.", max_length=40)
        ] = "",
        text: Annotated[
            str,
            Field(
                description="The user's own words; with the choice `raise`, the new cap: `2.50`, "
                "or `max_tokens=200000` where both caps are set.",
                max_length=20_000,
            ),
        ] = "",
    ) -> ResearchState:
        """Answer a question of a job with what the user decided."""
        async with calls.open(ctx.request_context, "research_answer", Scope.STEER, job) as known:
            await find_open_question(known.holdfast.db, job, question)
            words = checked_answer(text) if text.strip() else ""
            await known.controller.answer(job, question, choice, words)
            return await state_of(known, job)

    async def research_steer(
        job: JobId,
        guidance: Annotated[
            str, Field(description="What the next planning must consider.", max_length=20_000)
        ],
        ctx: Context[Any, Any],
    ) -> ResearchState:
        """Guide a running job: later planning follows it, tasks that are planned stay."""
        async with calls.open(ctx.request_context, "research_steer", Scope.STEER, job) as known:
            await known.controller.steer(job, checked_guidance(guidance))
            return await state_of(known, job)

    async def research_resume(job: JobId, ctx: Context[Any, Any]) -> ResearchState:
        """Continue a paused, failed or cancelled job with all it found, or run a plan only made."""
        async with calls.open(ctx.request_context, "research_resume", Scope.STEER, job) as known:
            await known.controller.resume(job)
            return await state_of(known, job)

    async def research_retry(
        job: JobId,
        tasks: Annotated[
            list[str],
            Field(
                description="Ids of tasks of the plan, such as T2.", min_length=1, max_length=200
            ),
        ],
        ctx: Context[Any, Any],
        dry_run: Annotated[bool, Field(description="Only say what would run again.")] = False,
    ) -> RerunScope:
        """Run tasks, and what depends on them, again; everything else of the job is kept."""
        async with calls.open(ctx.request_context, "research_retry", Scope.STEER, job) as known:
            names = list(dict.fromkeys(tasks))
            if dry_run:
                return await known.controller.preview_retry(job, names)
            return await known.controller.retry(job, names)

    async def research_stop(job: JobId, ctx: Context[Any, Any]) -> ResearchState:
        """Stop a job now, and have it report what it found so far; the findings are kept."""
        async with calls.open(ctx.request_context, "research_stop", Scope.STEER, job) as known:
            return await state_of(known, job, note=await _stop(known, job))

    server.add_tool(research_answer, annotations=_CHANGES)
    server.add_tool(research_steer, annotations=_CHANGES)
    server.add_tool(research_resume, annotations=_CHANGES)
    server.add_tool(research_retry, annotations=_CHANGES)
    server.add_tool(research_stop, annotations=_STOPS)


async def _stop(known: KnownCaller, job_id: str) -> str:
    """Cancel the job unless it has ended, and have it write its report; return what was done."""
    before = await job_rows.load_job(known.holdfast.db, job_id)
    if not before.status.is_final:
        if before.stop_reason is not None:
            # A job with a stop reason was reopened for its report alone.
            return _WRITES
        await known.controller.cancel(job_id)
    job = await known.holdfast.wait(job_id, _END_WITHIN)
    if not job.status.is_final:
        return "the job is being stopped; call research_stop again for its report"
    try:
        is_new = await known.controller.write_partial_report(job_id)
    except BadInput as error:
        return in_tools(str(error))
    return _WRITES if is_new else ""
