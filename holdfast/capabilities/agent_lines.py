"""List the agents of an installation, and the tools that are available to each."""

from collections.abc import Sequence

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.frozen_model import Frozen
from holdfast.models.strategies.agent_profiles import AgentProfile, AgentTier
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue, tools_of


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
