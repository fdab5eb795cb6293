"""Define the tools that start a job, say what it does, and wait for a change."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult, ToolAnnotations
from pydantic import Field, JsonValue

from holdfast.api.routes.job_submission_routes import submitted_job
from holdfast.jobs.job_expectation import expectation_of
from holdfast.jobs.job_submission import JobSubmission
from holdfast.jobs.open_questions import open_questions_of
from holdfast.mcp_server.caller_access import KnownCaller, ToolCalls
from holdfast.mcp_server.host_questions import (
    HostQuestions,
    can_ask,
    input_requests,
    take_answers,
    takes_input_requests,
)
from holdfast.mcp_server.job_states import state_of, wait_for_change
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.mcp_server.tool_answers import ResearchState, StartedResearch
from holdfast.mcp_server.tools.argument_types import JobId
from holdfast.models.access.access_scopes import Scope
from holdfast.models.views.status_views import WaitingQuestion

START = "research_start"
_LONGEST_WAIT_S = 15
"""What is left of 20 seconds is for reading the state while a service is slow."""
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_STARTS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)
_PUT_TO_USER = "the open question was put to the user; the job goes on once it is answered"


def add_start_and_wait_tools(
    server: ResearchServer, calls: ToolCalls, questions: HostQuestions
) -> None:
    """Add `research_start`, `research_status` and `research_wait`."""

    async def research_start(
        question: Annotated[str, Field(description="What to find out.", max_length=20_000)],
        ctx: Context[Any, Any],
        collection: Annotated[
            str | None, Field(description="The collection of documents to read.")
        ] = None,
        preset: Annotated[str | None, Field(description="How to work; leave it out.")] = None,
        model: Annotated[str | None, Field(description="Which model; leave it out.")] = None,
        settings: Annotated[
            Mapping[str, JsonValue] | None,
            Field(description='Changed settings, such as {"max_cost": 2.5}.'),
        ] = None,
        follows: Annotated[
            str | None, Field(description="An ended job that this question follows, by id.")
        ] = None,
        review: Annotated[
            bool, Field(description="Ask the user to approve the plan, with its estimate.")
        ] = False,
        request_id: Annotated[
            str | None,
            Field(
                description="A name of your own: a repeated call with it gives the same job.",
                max_length=200,
            ),
        ] = None,
    ) -> str:
        """Start to research a question; answers at once with the job's id and an estimate."""
        submission = JobSubmission(
            question=question,
            collection=collection,
            preset=preset,
            model=model,
            settings=settings or {},
            follows=follows,
            review=review,
        )
        async with calls.open(ctx.request_context, START, Scope.ASK) as known:
            submitted = await submitted_job(known, submission, request_id)
            started = StartedResearch(
                job=submitted.job_id,
                page=known.page_of(submitted.job_id),
                expected=await expectation_of(known.holdfast, submitted.job_id),
                note=submitted.note,
                next="call research_wait",
            )
        return started.model_dump_json(indent=1)

    async def research_status(job: JobId, ctx: Context[Any, Any]) -> ResearchState:
        """What a job does, what it has used, what it asks, and what to call next."""
        async with calls.open(ctx.request_context, "research_status", Scope.READ, job) as known:
            return await state_of(known, job)

    async def research_wait(
        job: JobId,
        ctx: Context[Any, Any],
        seconds: Annotated[
            float, Field(description="Wait at most so long.", ge=0, le=20, allow_inf_nan=False)
        ] = 20,
    ) -> ResearchState | InputRequiredResult:
        """Wait until a job ends, pauses or asks something, at most 20 seconds; then its state."""
        request = ctx.request_context
        async with calls.open(request, "research_wait", Scope.READ, job) as known:
            may_ask = can_ask(request, known)
            fault = await take_answers(known, job, ctx.input_responses) if may_ask else ""
            await wait_for_change(
                known.holdfast,
                job,
                timedelta(seconds=min(seconds, _LONGEST_WAIT_S)),
                lambda question: questions.is_news(known, job, question),
            )
            news = await _news(known, job)
            if news and may_ask:
                if takes_input_requests(request):
                    return InputRequiredResult(input_requests=input_requests(news))
                if request.session.can_send_request:
                    questions.ask_behind_call(request, known, job, news)
                    fault = fault or _PUT_TO_USER
            return await state_of(known, job, note=fault)

    async def _news(known: KnownCaller, job: str) -> list[WaitingQuestion]:
        """The questions that the caller was not shown before, and is shown by this call."""
        waiting = await open_questions_of(known.holdfast.db, job)
        news = [each for each in waiting if questions.is_news(known, job, each)]
        questions.mark_shown(known, job, news)
        return news

    # A call that becomes a task has no structured result of its own.
    server.add_tool(research_start, annotations=_STARTS, structured_output=False)
    server.add_tool(research_status, annotations=_READS)
    server.add_tool(research_wait, annotations=_READS)
