"""Assemble the MCP server from its tools, resources and extensions."""

from importlib.metadata import version

from holdfast.mcp_server.caller_access import CallerAccess, ToolCalls
from holdfast.mcp_server.host_questions import HostQuestions
from holdfast.mcp_server.instructions import INSTRUCTIONS
from holdfast.mcp_server.job_resources import add_job_resources
from holdfast.mcp_server.job_tasks import JobTasks
from holdfast.mcp_server.research_server import ResearchServer
from holdfast.mcp_server.tools.control_tools import add_control_tools
from holdfast.mcp_server.tools.reading_tools import add_reading_tools
from holdfast.mcp_server.tools.schedule_tools import add_schedule_tools
from holdfast.mcp_server.tools.start_and_wait_tools import add_start_and_wait_tools


def build_mcp_server(access: CallerAccess) -> ResearchServer:
    """Return the server; configure logging first, else the SDK configures it."""
    calls = ToolCalls(access)
    server = ResearchServer(
        "holdfast",
        title="Holdfast",
        version=version("holdfast"),
        instructions=INSTRUCTIONS,
        extensions=[JobTasks(calls)],
    )
    add_start_and_wait_tools(server, calls, HostQuestions())
    add_control_tools(server, calls)
    add_reading_tools(server, calls)
    add_schedule_tools(server, calls)
    add_job_resources(server, calls)
    return server
