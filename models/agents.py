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
    model: str | None = Field(default=None, min_length=1)
    """Plays the agent's roles in the job's model's place, at the same endpoint."""
    max_steps: int | None = Field(default=None, ge=1, le=60)
    """Steps after which it must conclude; the job's `max_node_steps` holds as well."""


class AgentBrief(Frozen):
    """What the planner is told of an agent."""

    name: str
    description: str
    tools: tuple[str, ...] = ()
