"""Define the tools that list jobs, and read reports, cited passages and what two jobs differ in."""

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from holdfast.api.api_context import check_visible_job
from holdfast.jobs.job_lookup import newest_jobs, report_of
from holdfast.mcp_server.caller_access import ToolCalls
from holdfast.mcp_server.cited_passages import cited_passage
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.mcp_server.text_parts import text_parts
from holdfast.mcp_server.tool_answers import JobList, SourcePassageView
from holdfast.mcp_server.tools.argument_types import JobId
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_filter import JobFilter
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.views.job_views import JobLine
from holdfast.planning.reports.claim_matching import ClaimChange
from holdfast.records.job_comparison import JobComparison, SourceChange, TaskChange, compare_jobs
from holdfast.reports.markdown_and_json_rendering import to_markdown

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_UNCHANGED = {
    "claims": ClaimChange.SAME,
    "tasks": TaskChange.SAME,
    "sources": SourceChange.BOTH,
}
_MAX_TEXT = 200
Part = Annotated[int, Field(description="1 is the first part.", ge=1, le=100_000)]


def add_reading_tools(server: ResearchServer, calls: ToolCalls) -> None:
    """Add `research_jobs`, `research_report`, `research_source` and `research_compare`."""

    async def research_jobs(
        ctx: Context[Any, Any],
        words: Annotated[
            str, Field(description="Only jobs with this in question or answer.", max_length=200)
        ] = "",
        status: Annotated[
            str | None,
            Field(
                description="Only jobs that are queued, running, paused, done, failed, cancelled."
            ),
        ] = None,
        after: Annotated[
            str | None,
            Field(
                description="The last job of the list before, for the next part.", max_length=200
            ),
        ] = None,
        limit: Annotated[int, Field(description="The most jobs to list.", ge=1, le=25)] = 20,
    ) -> JobList:
        """List jobs, the newest first, each with its question, status and short answer."""
        async with calls.open(ctx.request_context, "research_jobs", Scope.READ) as known:
            owner = known.caller.visible_owner
            which = JobFilter(limit=limit, status=status, owner=owner, after=after, words=words)
            lines = await newest_jobs(known.holdfast, which)
            return JobList(jobs=tuple(map(_shortened, lines)), is_whole=len(lines) < limit)

    async def research_report(
        job: JobId,
        ctx: Context[Any, Any],
        part: Part = 1,
    ) -> str:
        """Read a part of the report, as Markdown of at most 20,000 characters; [n] are marks."""
        async with calls.open(ctx.request_context, "research_report", Scope.READ, job) as known:
            report = await report_of(known.holdfast, job)
            return _part("report", to_markdown(report), part)

    async def research_source(
        job: JobId,
        mark: Annotated[int, Field(description="The number of a mark [n].", ge=1, le=2**62)],
        ctx: Context[Any, Any],
    ) -> SourcePassageView:
        """Show the passage that a mark of the report cites, with its sentences and its address."""
        async with calls.open(ctx.request_context, "research_source", Scope.READ, job) as known:
            return await cited_passage(known.holdfast, job, mark)

    async def research_compare(
        job: JobId,
        other: Annotated[
            str,
            Field(
                description="The job to compare with: a later one, a fork, an update.",
                max_length=200,
            ),
        ],
        ctx: Context[Any, Any],
        part: Part = 1,
    ) -> str:
        """What differs between two jobs: answer, claims, tasks, sources, cost; JSON in parts."""
        # Without a model, whose call could take longer than a host waits.
        async with calls.open(ctx.request_context, "research_compare", Scope.READ, job) as known:
            await check_visible_job(known, other)
            compared = await compare_jobs(known.holdfast, job, other)
            return _part("comparison", _differences(compared), part)

    server.add_tool(research_jobs, annotations=_READS)
    server.add_tool(research_report, annotations=_READS, structured_output=False)
    server.add_tool(research_source, annotations=_READS)
    server.add_tool(research_compare, annotations=_READS, structured_output=False)


def _shortened(line: JobLine) -> JobLine:
    """The job with texts that leave room for others; its state has them whole."""
    answer = line.answer and shorten_text(line.answer, _MAX_TEXT)
    question = shorten_text(line.question, _MAX_TEXT)
    return line.model_copy(update={"question": question, "answer": answer})


def _differences(compared: JobComparison) -> str:
    """The comparison as JSON, without the claims, tasks and sources that are the same."""
    shown = compared.model_dump(mode="json")
    for name, unchanged in _UNCHANGED.items():
        shown[name] = [each for each in shown[name] if each["change"] != unchanged]
    return json.dumps(shown, ensure_ascii=False, indent=1)


def _part(what: str, text: str, number: int) -> str:
    """The part of the text, after a line that says which of several parts it is.

    Raises:
        BadInput: there is no such part.
    """
    parts = text_parts(text)
    if number > len(parts):
        last = "1 part" if len(parts) == 1 else f"{len(parts)} parts"
        raise BadInput(f"the {what} has {last}, so there is no part {number}")
    if len(parts) == 1:
        return parts[0]
    rest = f"; part={number + 1} is the next" if number < len(parts) else "; it is the last"
    return f"(part {number} of {len(parts)}{rest})\n\n{parts[number - 1]}"
