"""Read and check the `[agents.NAME]` tables of `holdfast.toml`."""

import re
from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from holdfast.models.errors import BadConfiguration
from holdfast.models.strategies.agent_profiles import AgentProfile
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue, built_in_agents
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml, validated

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_EXAMPLES = {
    "tier": 'tier = "data" (or "analysis", "output")',
    "description": 'description = "Finds and compares patents."',
    "tools": 'tools = ["patents.*", "corpus.search"]',
    "instructions": 'instructions = "Name the patent\'s number."',
    "model": 'model = "the-name-of-a-model"',
    "max_steps": "max_steps = 8",
}


def read_agents(path: Path | None) -> AgentCatalogue:
    """Return the built-in agents, changed and extended by the file at `path`.

    Raises:
        BadConfiguration: an entry is wrong; the message names file, agent and key, and an example.
    """
    known = dict(built_in_agents().profiles)
    if path is not None and path.exists():
        for name, entry in _tables(path).items():
            known[name] = _agent(path, name, entry, known.get(name))
    return AgentCatalogue(known)


def _tables(path: Path) -> dict[str, Any]:
    content = read_toml(path)
    for key in content:
        if key != "agents" and nearest_names(key.lower(), ["agents"], min_similarity=0.8):
            raise BadConfiguration(f"{path}: unknown table {key!r}; write [agents.NAME]")
    tables = content.get("agents", {})
    if not isinstance(tables, dict):
        raise BadConfiguration(f"{path}: 'agents' must be tables; write [agents.NAME]")
    return tables


def _agent(path: Path, name: str, entry: object, known: AgentProfile | None) -> AgentProfile:
    where = f"{path}: agents.{name}"
    if not _NAME.fullmatch(name):
        raise BadConfiguration(
            f"{where}: an agent's name is up to 40 small letters, digits, - and _, such as patents"
        )
    if not isinstance(entry, dict):
        raise BadConfiguration(f"{where} must be a table; write [agents.{name}]")
    if "name" in entry:
        raise BadConfiguration(f"{where}.name: the name is that of the table, [agents.{name}]")
    usual = {} if known is None else known.model_dump()
    agent = validated(
        AgentProfile, {**usual, **entry, "name": name}, lambda detail: _complaint(where, detail)
    )
    _check(where, agent)
    return agent


def _check(where: str, agent: AgentProfile) -> None:
    """Refuse entries of the right type that could not work.

    Raises:
        BadConfiguration: an entry is wrong; the message names the key and an example.
    """
    if not agent.description.strip():
        raise BadConfiguration(
            f"{where}.description is empty, and the planner chooses agents by it; write for "
            f"example {_EXAMPLES['description']}"
        )
    for pattern in agent.tools:
        if "." not in pattern and pattern != "*":
            raise BadConfiguration(
                f"{where}.tools: {pattern!r} fits no tool, as tools are called server.tool; write "
                f"for example {pattern + '.*'!r} for all of a server"
            )


def _complaint(where: str, detail: ErrorDetails) -> str:
    key = str(detail["loc"][0])
    if detail["type"] == "extra_forbidden":
        return f"{where}.{key} is not a known key; known here: {', '.join(sorted(_EXAMPLES))}"
    if detail["type"] == "missing":
        return f"{where} has no {key!r}; write for example {_EXAMPLES[key]}"
    return f"{where}.{key}: {detail['msg']}; write for example {_EXAMPLES[key]}"
