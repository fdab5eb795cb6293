"""List the agents of an installation, and select the tools that each agent may call."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.strategies.agent_profiles import AgentBrief, AgentProfile, AgentTier


@dataclass(frozen=True)
class AgentCatalogue:
    """All agents of an installation by name: the built-in ones and the operator's."""

    profiles: Mapping[str, AgentProfile]

    def profile(self, name: str) -> AgentProfile:
        """Return the agent of that name; of a removed agent only the name is left."""
        gone = AgentProfile(name=name, tier=AgentTier.DATA, description="")
        return self.profiles.get(name, gone)

    def absence(self, name: str) -> str:
        """Return why there is no usable agent of that name; empty if there is one."""
        if name in self.profiles:
            return ""
        return f"there is no agent {name!r} any more; agents: {', '.join(sorted(self.profiles))}"

    def own_model(self, name: str) -> str:
        """Return the agent's own model for its roles; empty if it has none."""
        return self.profile(name).model or ""

    @property
    def has_own_models(self) -> bool:
        """True if any agent has a model of its own."""
        return any(each.model for each in self.profiles.values())

    def usable_agents(self, tools: Iterable[ToolSignature]) -> tuple[AgentBrief, ...]:
        """Return the agents that have one of these tools or need none."""
        there = tuple(tools)
        found = []
        for agent in self.profiles.values():
            names = tuple(tool.name for tool in tools_of(agent, there))
            if names or not agent.tools:
                brief = AgentBrief(name=agent.name, description=agent.description, tools=names)
                found.append(brief)
        return tuple(found)


@lru_cache
def built_in_agents() -> AgentCatalogue:
    """Return the built-in agents."""
    file = files("holdfast.planning.strategies").joinpath("agents.toml")
    tables = tomllib.loads(file.read_text("utf-8"))
    return AgentCatalogue(
        {name: AgentProfile(name=name, **table) for name, table in tables.items()}
    )


def tools_of(agent: AgentProfile, tools: Iterable[ToolSignature]) -> tuple[ToolSignature, ...]:
    """Return the tools that the agent may call."""
    return tuple(tool for tool in tools if any(fnmatchcase(tool.name, p) for p in agent.tools))
