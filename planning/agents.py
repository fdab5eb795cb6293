"""The agents that there are, and which tools each of them may call."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files

from models.agents import AgentBrief, AgentProfile, Tier
from models.tools import ToolSignature


@dataclass(frozen=True)
class Agents:
    """All agents of an installation, by name: those of Holdfast with those of its operator."""

    profiles: Mapping[str, AgentProfile]

    def profile(self, name: str) -> AgentProfile:
        """The agent of that name; of one that was taken out of the configuration, its bare name."""
        gone = AgentProfile(name=name, tier=Tier.DATA, description="")
        return self.profiles.get(name, gone)

    def absence(self, name: str) -> str:
        """Why nobody of that name can work, with the agents there are; empty where one can."""
        if name in self.profiles:
            return ""
        return f"there is no agent {name!r} any more; agents: {', '.join(sorted(self.profiles))}"

    def model_of(self, name: str, usual: str) -> str:
        """The model that plays the agent's roles: its own, or the job's."""
        return self.profile(name).model or usual

    @property
    def have_models(self) -> bool:
        """Whether any of them is played by a model of its own."""
        return any(each.model for each in self.profiles.values())

    def usable(self, tools: Iterable[ToolSignature]) -> tuple[AgentBrief, ...]:
        """The agents that can work with these tools: they have some, or need none."""
        there = tuple(tools)
        found = []
        for agent in self.profiles.values():
            names = tuple(tool.name for tool in tools_of(agent, there))
            if names or not agent.tools:
                brief = AgentBrief(name=agent.name, description=agent.description, tools=names)
                found.append(brief)
        return tuple(found)


@lru_cache
def packaged() -> Agents:
    """The agents that come with Holdfast."""
    tables = tomllib.loads(files("planning").joinpath("agents.toml").read_text("utf-8"))
    return Agents({name: AgentProfile(name=name, **table) for name, table in tables.items()})


def tools_of(agent: AgentProfile, tools: Iterable[ToolSignature]) -> tuple[ToolSignature, ...]:
    """The tools that the agent may call."""
    return tuple(tool for tool in tools if any(fnmatchcase(tool.name, p) for p in agent.tools))
