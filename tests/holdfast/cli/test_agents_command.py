"""Tests for `holdfast agents`: the agents and tools of the configured servers, without any
service."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.services.command_shell import command_shell

LAB = Path(__file__).parents[2] / "servers" / "failing_tools_server.py"

pytestmark = pytest.mark.slow


@pytest.mark.conformance("VMAO-05")
def test_agents_are_listed_with_the_tools_of_a_real_server_and_what_others_want() -> None:
    with command_shell() as here:
        (here.folder / "holdfast.toml").write_text(
            f"[servers.patents]\ncommand = ['{sys.executable}', '{LAB}']\n"
            '[agents.inventor]\ntier = "data"\ndescription = "Finds inventors."\n'
            'tools = ["patents.echo"]\n'
        )

        plain = here.holdfast("agents")
        as_json = here.holdfast("agents", "--json")

    assert plain.code == 0, plain.err
    lines = {line.split()[0]: line for line in plain.out.splitlines() if line.strip()}
    assert lines["inventor"].split() == ["inventor", "data", "patents.echo"]
    assert lines["reasoning"].split()[1:] == ["analysis", "needs", "none"]
    assert (
        "off: needs an MCP server named financial in holdfast.toml, or a tool" in lines["financial"]
    )
    assert (
        "off: needs an MCP server named competitor in holdfast.toml, or a tool"
        in lines["competitor"]
    )
    found = {each["name"]: each for each in json.loads(as_json.out)}
    assert found["inventor"]["can_work"]
    assert not found["financial"]["can_work"]


def test_a_mistake_in_the_file_is_told_in_a_line() -> None:
    with command_shell() as here:
        (here.folder / "holdfast.toml").write_text('[agents.x]\ntier = "data"\n')

        ran = here.holdfast("agents")

    assert ran.code == 2
    assert "agents.x has no 'description'" in ran.refused()
