"""Implement `holdfast agents`: list the agents and the tools that are available to each agent."""

import asyncio
from collections.abc import Mapping

from holdfast.capabilities.agent_lines import AgentLine, agent_lines
from holdfast.capabilities.loaded_tools import load_tools
from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.tools.mcp.tool_server import MissingServer

_OPTIONAL_SERVERS = frozenset({"web", "wikipedia", "tables"})
"""Built-in tool servers that a table of their own in `holdfast.toml` turns on."""


def agents_command(*, json_output: bool) -> None:
    """Print the agents with their tools."""
    settings = load_command_settings()
    configure_quiet_logs()
    # Only the worker can know whether there is an endpoint for an agent's model.
    agents = read_agents(settings.config_file)
    tools = asyncio.run(load_tools(settings))
    lines = agent_lines(agents, tools.signatures)
    if json_output:
        print_json(lines)
        return
    rows = [(line.name, line.tier.value, _tool_text(line, tools.missing)) for line in lines]
    console().print(plain_table(("agent", "tier", "tools"), rows))
    for fault in (*tools.faults, *(server.reason for server in tools.missing.values())):
        print_progress(f"note: {fault}")
    if not all(line.can_work for line in lines):
        print_text("\nThe planner does not use agents that are off; docs/tools.md says how to add")
        print_text("a tool server, or how to give an agent other tools.")


def _tool_text(line: AgentLine, missing: Mapping[str, MissingServer]) -> str:
    """The agent's tools; or what the installation needs so that the agent can work."""
    if line.tools:
        return ", ".join(line.tools)
    if line.can_work:
        return "needs none"
    servers = [name.removesuffix(".*") for name in line.wants if name.endswith(".*")]
    tools = [name.removeprefix("*.") for name in line.wants if not name.endswith(".*")]
    needs = [_server_need(name, missing) for name in servers]
    needs += [f"a tool named {' or '.join(tools)}"] if tools else []
    return f"off: needs {', or '.join(needs)}"


def _server_need(name: str, missing: Mapping[str, MissingServer]) -> str:
    if name in missing:
        return f"the part {missing[name].part.value!r}"
    table = f"a [{name}] table" if name in _OPTIONAL_SERVERS else f"an MCP server named {name}"
    return f"{table} in holdfast.toml"
