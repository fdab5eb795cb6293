"""Agent profiles: what kind of sub-question an agent resolves, and with which tools."""

from enum import StrEnum

from pydantic import Field

from models.base import Frozen


class Tier(StrEnum):
    """VMAO's three tiers: who fetches, who thinks, who writes."""

    DATA = "data"
    ANALYSIS = "analysis"
    OUTPUT = "output"


class AgentProfile(Frozen):
    """One kind of agent; `tools` are patterns such as `corpus.*` over the tools there are."""

    name: str = Field(min_length=1, max_length=40)
    tier: Tier
    description: str
    """What the planner reads when it chooses an agent."""
    tools: tuple[str, ...] = ()
    """None: it works with its inputs alone."""
    instructions: str = ""
    """What the agent's own roles read."""


class AgentBrief(Frozen):
    """What the planner is told of an agent."""

    name: str
    description: str
    tools: tuple[str, ...] = ()
