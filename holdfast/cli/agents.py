"""The command `agents`: who can be given a sub-question, and what those who cannot are wanting."""

import asyncio
import logging
from collections.abc import Sequence

import typer

from holdfast.agents import read_agents
from holdfast.builtin import builtin_servers, unread_corpus
from holdfast.cli.output import console, print_json, say, table
from holdfast.logs import configure_logs
from holdfast.settings import Settings, load_settings
from models.agents import AgentProfile, Tier
from models.base import Frozen
from models.tools import ToolSignature
from planning.agents import Agents, tools_of
from tools.config import read_servers
from tools.hub import Hub


class AgentLine(Frozen):
    """An agent with the tools that are there for it."""

    name: str
    tier: Tier
    description: str
    tools: tuple[str, ...]
    wants: tuple[str, ...]
    """The patterns of its tools."""
    can_work: bool
    model: str | None
    max_steps: int | None


def agents_command(*, json_output: bool) -> None:
    settings = load_settings()
    if not logging.getLogger().handlers:
        configure_logs("ERROR")  # else an MCP server in this process would log in its own way
    # Whether there is an endpoint for an agent's model is the worker's business.
    agents = read_agents(settings.config_file)
    signatures, faults = asyncio.run(_tools(settings))
    lines = agent_lines(agents, signatures)
    if json_output:
        print_json(lines)
        return
    rows = [(each.name, each.tier.value, _has(each)) for each in lines]
    console().print(table(("agent", "tier", "tools"), rows))
    for fault in faults:
        say(f"note: {fault}")
    if not all(each.can_work for each in lines):
        typer.echo("\nAgents without a tool are not offered to the planner; docs/tools.md says how")
        typer.echo("to add a server, or how to give an agent tools that are there.")


def agent_lines(agents: Agents, signatures: Sequence[ToolSignature]) -> list[AgentLine]:
    """All agents, tier by tier in the order data, analysis, output."""
    order = list(Tier)
    profiles = sorted(agents.profiles.values(), key=lambda each: order.index(each.tier))
    able = {each.name for each in agents.usable(signatures)}
    return [_line(each, signatures, can_work=each.name in able) for each in profiles]


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


def _has(line: AgentLine) -> str:
    """What it works with; or which servers or tools it wants, where none of them is there."""
    if line.tools:
        return ", ".join(line.tools)
    if line.can_work:
        return "needs none"
    servers = [each.removesuffix(".*") for each in line.wants if each.endswith(".*")]
    tools = [each.removeprefix("*.") for each in line.wants if not each.endswith(".*")]
    ways = [f"an MCP server named {' or '.join(servers)}"] if servers else []
    ways += [f"a tool named {' or '.join(tools)}"] if tools else []
    return f"CANNOT WORK: wants {', or '.join(ways)}"


async def _tools(settings: Settings) -> tuple[tuple[ToolSignature, ...], tuple[str, ...]]:
    """The tools that there are now, and why others are not; servers are started for the look."""
    servers = read_servers(settings.config_file) if settings.config_file else {}
    async with builtin_servers(settings, unread_corpus()) as builtin, Hub(servers, builtin) as hub:
        return await hub.signatures(), hub.faults()
