"""Define agent profiles: an agent's description, its tools, its model and its limits."""

from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen


class AgentTier(StrEnum):
    """VMAO's three tiers of agents: data, analysis, output."""

    DATA = "data"
    ANALYSIS = "analysis"
    OUTPUT = "output"


class AgentProfile(Frozen):
    """One kind of agent; `tools` are patterns of tool names such as `corpus.*`."""

    name: str = Field(min_length=1, max_length=40)
    tier: AgentTier
    description: str
    """The description that the planner reads when it chooses an agent."""
    tools: tuple[str, ...] = ()
    """None: the agent uses its inputs only."""
    instructions: str = ""
    """Instructions for the agent's own roles."""
    model: str | None = Field(default=None, min_length=1)
    """The model for the agent's roles, instead of the job's model, at the same endpoint."""
    max_steps: int | None = Field(default=None, ge=1, le=60)
    """Steps after which it must conclude; the job's `max_agent_steps` holds as well."""


class AgentBrief(Frozen):
    """The part of an agent profile that the planner sees."""

    name: str
    description: str
    tools: tuple[str, ...] = ()
