"""The agents that there are, and which tools each of them may call."""

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files

from models.agents import AgentBrief, AgentProfile
from models.errors import NotFound
from models.tools import ToolSignature


@lru_cache
def profiles() -> Mapping[str, AgentProfile]:
    """All agents by name."""
    tables = tomllib.loads(files("planning").joinpath("agents.toml").read_text("utf-8"))
    return {name: AgentProfile(name=name, **table) for name, table in tables.items()}


def profile(name: str) -> AgentProfile:
    """The agent of that name.

    Raises:
        NotFound: there is none; the message lists those there are.
    """
    known = profiles()
    if name not in known:
        raise NotFound(f"there is no agent {name!r}; agents: {', '.join(sorted(known))}")
    return known[name]


def tools_of(agent: AgentProfile, tools: Iterable[ToolSignature]) -> tuple[ToolSignature, ...]:
    """The tools that the agent may call."""
    return tuple(tool for tool in tools if any(fnmatchcase(tool.name, p) for p in agent.tools))


def usable(tools: Iterable[ToolSignature]) -> tuple[AgentBrief, ...]:
    """The agents that can work with these tools: they have some, or need none."""
    there = tuple(tools)
    found = []
    for agent in profiles().values():
        names = tuple(tool.name for tool in tools_of(agent, there))
        if names or not agent.tools:
            found.append(AgentBrief(name=agent.name, description=agent.description, tools=names))
    return tuple(found)
