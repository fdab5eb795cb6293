"""Implement `holdfast agents`: list the agents and the tools that are available to each agent."""

import asyncio
from collections.abc import Mapping, Sequence

from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
from holdfast.configuration.configured_agents import read_agents
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.agent_profiles import AgentProfile, AgentTier
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue, tools_of
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import MissingServer

_OPTIONAL_SERVERS = frozenset({"web", "wikipedia", "tables"})
"""Built-in tool servers that a table of their own in `holdfast.toml` turns on."""


class AgentLine(Frozen):
    """An agent with the tools that it can use."""

    name: str
    tier: AgentTier
    description: str
    tools: tuple[str, ...]
    wants: tuple[str, ...]
    """Patterns of the tools that the agent may use."""
    can_work: bool
    model: str | None
    max_steps: int | None


def agents_command(*, json_output: bool) -> None:
    """Print the agents with their tools."""
    settings = load_command_settings()
    configure_quiet_logs()
    # Only the worker can know whether there is an endpoint for an agent's model.
    agents = read_agents(settings.config_file)
    signatures, faults, missing = asyncio.run(_load_tools(settings))
    lines = agent_lines(agents, signatures)
    if json_output:
        print_json(lines)
        return
    rows = [(line.name, line.tier.value, _tool_text(line, missing)) for line in lines]
    console().print(plain_table(("agent", "tier", "tools"), rows))
    for fault in (*faults, *(server.reason for server in missing.values())):
        print_progress(f"note: {fault}")
    if not all(line.can_work for line in lines):
        print_text("\nThe planner does not use agents that are off; docs/tools.md says how to add")
        print_text("a tool server, or how to give an agent other tools.")


def agent_lines(agents: AgentCatalogue, signatures: Sequence[ToolSignature]) -> list[AgentLine]:
    """All agents, tier by tier in the order data, analysis, output."""
    order = list(AgentTier)
    profiles = sorted(agents.profiles.values(), key=lambda profile: order.index(profile.tier))
    usable = {profile.name for profile in agents.usable_agents(signatures)}
    return [_line(profile, signatures, can_work=profile.name in usable) for profile in profiles]


def _line(agent: AgentProfile, signatures: Sequence[ToolSignature], *, can_work: bool) -> AgentLine:
    return AgentLine(
        name=agent.name,
        tier=agent.tier,
        description=agent.description,
        tools=tuple(tool.name for tool in tools_of(agent, signatures)),
        wants=agent.tools,
        can_work=can_work,
        model=agent.model,
        max_steps=agent.max_steps,
    )


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


async def _load_tools(
    settings: Settings,
) -> tuple[tuple[ToolSignature, ...], tuple[str, ...], Mapping[str, MissingServer]]:
    """The available tools, and why other tools are missing; tool servers are started for this."""
    servers = read_servers(settings.config_file) if settings.config_file else {}
    async with (
        open_builtin_servers(settings, unconnected_corpus()) as builtin,
        Hub(servers, builtin) as hub,
    ):
        return await hub.signatures(), hub.faults(), hub.missing
