"""Tests for the agents of `holdfast.toml`: what is read, what a broken file is answered with, what
is listed."""

from pathlib import Path

import pytest

from holdfast.capabilities.agent_lines import agent_lines
from holdfast.cli.commands.agent_commands import agents_command
from holdfast.configuration.configured_agents import read_agents
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import BadConfiguration
from holdfast.models.strategies.agent_profiles import AgentProfile, AgentTier
from holdfast.planning.strategies.agent_catalogue import built_in_agents
from holdfast.tools.optional_parts import OptionalPart
from tests.support.tools.missing_parts import hide_parts

NEW = '[agents.patents]\ntier = "data"\ndescription = "Finds patents."\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "holdfast.toml"
    path.write_text(text)
    return path


@pytest.mark.conformance("VMAO-05")
def test_the_nine_profiles_of_vmao_stand_in_three_tiers() -> None:
    tiers = {name: each.tier for name, each in built_in_agents().profiles.items()}

    assert {name for name, tier in tiers.items() if tier is AgentTier.DATA} == {
        "rag",
        "web",
        "financial",
        "competitor",
        "generalist",
    }
    assert {name for name, tier in tiers.items() if tier is AgentTier.ANALYSIS} == {
        "analysis",
        "reasoning",
        "raw_data",
    }
    assert {name for name, tier in tiers.items() if tier is AgentTier.OUTPUT} == {
        "document",
        "visualization",
    }


@pytest.mark.parametrize("text", [None, "", "[servers.a]\ncommand = ['x']\n[prices]\n"])
def test_without_a_table_of_agents_those_of_holdfast_remain(
    tmp_path: Path, text: str | None
) -> None:
    path = None if text is None else written(tmp_path, text)

    assert read_agents(path) == built_in_agents()


@pytest.mark.conformance("VMAO-05")
def test_an_agent_is_added_and_another_changed_in_what_is_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        NEW + 'tools = ["patents.*"]\nmodel = "keen"\nmax_steps = 8\n'
        '[agents.web]\ntools = ["crawler.*"]\n',
    )

    agents = read_agents(path)

    assert agents.profile("patents") == AgentProfile(
        name="patents",
        tier=AgentTier.DATA,
        description="Finds patents.",
        tools=("patents.*",),
        model="keen",
        max_steps=8,
    )
    usual = built_in_agents().profile("web")
    assert agents.profile("web") == usual.model_copy(update={"tools": ("crawler.*",)})
    assert agents.profiles.keys() == built_in_agents().profiles.keys() | {"patents"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[agent.x]", r"unknown table 'agent'; write \[agents.NAME\]"),
        ("agents = 3", r"'agents' must be tables"),
        ("[agents]\npatents = 3", r"agents\.patents must be a table"),
        ('[agents."Ana B"]', r"agents\.Ana B: an agent's name is up to 40 small letters"),
        (NEW + 'name = "x"', r"agents\.patents\.name: the name is that of the table"),
        (NEW + 'tool = ["a.*"]', r"agents\.patents\.tool is not a known key; known here: desc"),
        ('[agents.patents]\ntier = "data"', r"patents has no 'description'; .* \"Finds and"),
        (NEW.replace('"data"', '"top"'), r"patents\.tier: .*'data'.*write for example tier = "),
        (NEW.replace("Finds patents.", " "), r"patents\.description is empty"),
        (NEW + 'tools = "patents.*"', r"patents\.tools: .*write for example tools = \["),
        (NEW + 'tools = ["patents"]', r"'patents' fits no tool, .* 'patents\.\*'"),
        (NEW + "max_steps = 0", r"patents\.max_steps: .*write for example max_steps = 8"),
        (NEW + 'model = ""', r"patents\.model: .*write for example model = "),
    ],
)
def test_a_mistake_is_told_with_the_place_and_what_to_write(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(BadConfiguration, match=says) as told:
        read_agents(written(tmp_path, text))

    assert str(told.value).startswith(str(tmp_path / "holdfast.toml"))


@pytest.mark.conformance("VMAO-05")
def test_agents_are_listed_by_tier_with_their_tools_or_what_they_want(tmp_path: Path) -> None:
    agents = read_agents(written(tmp_path, NEW + 'tools = ["patents.*"]'))
    there = (ToolSignature(name="corpus.search"), ToolSignature(name="patents.find"))

    lines = agent_lines(agents, there)

    assert [each.tier for each in lines] == sorted(
        (each.tier for each in lines), key=list(AgentTier).index
    )
    by_name = {each.name: each for each in lines}
    assert by_name["patents"].tools == ("patents.find",)
    assert by_name["reasoning"].can_work
    assert {name for name, each in by_name.items() if not each.can_work} == {
        "web",
        "financial",
        "competitor",
        "raw_data",
        "document",
        "visualization",
    }
    assert by_name["competitor"].wants == ("competitor.*", "*.competitors", "*.market_share")


def test_agents_without_tools_are_listed_with_the_part_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    hide_parts(monkeypatch, OptionalPart.CHARTS)

    agents_command(json_output=False)

    shown = capsys.readouterr()
    assert "off: needs the part 'charts'" in shown.out
    assert "note: drawing charts needs the part 'charts': pip install 'holdfast[charts]'" in (
        shown.err
    )
