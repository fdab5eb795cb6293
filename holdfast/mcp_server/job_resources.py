"""Define the resources of a job: its report, its plan and the passages that it cites."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from holdfast.jobs.job_lookup import plan_of, report_of
from holdfast.mcp_server.caller_access import ToolCalls
from holdfast.mcp_server.cited_passages import cited_passage
from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import HoldfastError, NotFound
from holdfast.reports.markdown_and_json_rendering import to_markdown

_MAX_DIGITS = 18


def add_job_resources(server: ResearchServer, calls: ToolCalls) -> None:
    """Add `holdfast://jobs/{job}/report`, `/plan` and `/sources/{mark}`."""

    @server.resource("holdfast://jobs/{job}/report", mime_type="text/markdown")
    async def job_report(job: str, ctx: Context[Any, Any]) -> str:
        """The whole report of a job, as Markdown."""
        with _resource_errors():
            async with calls.open(ctx.request_context, "read_report", Scope.READ, job) as known:
                return to_markdown(await report_of(known.holdfast, job))

    @server.resource("holdfast://jobs/{job}/plan", mime_type="application/json")
    async def job_plan(job: str, ctx: Context[Any, Any]) -> str:
        """The tasks of a job's current plan, as JSON."""
        with _resource_errors():
            async with calls.open(ctx.request_context, "read_plan", Scope.READ, job) as known:
                return (await plan_of(known.holdfast, job)).model_dump_json(indent=1)

    @server.resource("holdfast://jobs/{job}/sources/{mark}", mime_type="application/json")
    async def job_source(job: str, mark: str, ctx: Context[Any, Any]) -> str:
        """The passage that a mark of the report cites."""
        with _resource_errors():
            async with calls.open(ctx.request_context, "read_source", Scope.READ, job) as known:
                if not (mark.isascii() and mark.isdecimal() and len(mark) <= _MAX_DIGITS):
                    raise NotFound(f"{mark[:40]!r} is no mark of a report; marks are numbers")
                passage = await cited_passage(known.holdfast, job, int(mark))
                return passage.model_dump_json(indent=1)


@contextmanager
def _resource_errors() -> Iterator[None]:
    """Turn Holdfast errors into those whose message the SDK sends."""
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(in_tools(str(error))) from error
    except HoldfastError as error:
        raise ResourceError(in_tools(str(error))) from error
