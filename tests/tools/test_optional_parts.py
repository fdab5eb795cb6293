"""Tests that a missing optional part is named at the border with the command that installs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from holdfast.models.errors import PartMissing, ToolFailed
from holdfast.tools.documents.document_reader import read_document
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.mcp.tool_server import MissingServer
from holdfast.tools.optional_parts import OptionalPart, is_installed
from tests.support.tools.missing_parts import hide_parts

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
CHARTS = MissingServer(OptionalPart.CHARTS, "drawing charts")


def test_every_part_is_an_extra_and_all_holds_them_all() -> None:
    extras = PROJECT["optional-dependencies"]

    assert set(extras) == {*OptionalPart, "all"}
    assert extras["all"] == [f"holdfast[{','.join(sorted(OptionalPart))}]"]


@pytest.mark.parametrize("part", OptionalPart)
def test_a_part_is_looked_for_without_importing_it(part: OptionalPart) -> None:
    code = (
        "import sys; from holdfast.tools import optional_parts as parts\n"
        f"there = parts.is_installed(parts.OptionalPart({part.value!r}))\n"
        f"imported = set(parts._MODULES[parts.OptionalPart({part.value!r})]) & set(sys.modules)\n"
        "print(there, imported)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "set()"]


@pytest.mark.parametrize("ending", [".pdf", ".docx", ".PPTX", ".xlsx"])
def test_a_file_that_needs_a_part_is_refused_with_the_command(
    ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_parts(monkeypatch, OptionalPart.DOCUMENTS)

    with pytest.raises(PartMissing) as refused:
        read_document(f"a{ending}", b"%PDF-")

    assert str(refused.value) == (
        f"reading {ending.lower()} files needs the part 'documents': "
        "pip install 'holdfast[documents]'"
    )


@pytest.mark.parametrize("ending", [".md", ".txt", ".html", ".csv"])
def test_plain_files_need_no_part(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_parts(monkeypatch, *OptionalPart)

    assert not any(map(is_installed, OptionalPart))
    assert "keeper" in read_document(f"a{ending}", b"The keeper,1884\n").text


async def test_a_job_that_names_a_server_without_its_part_is_refused_with_the_command() -> None:
    hub = Hub({}, {"charts": CHARTS})

    with pytest.raises(PartMissing) as refused:
        hub.only(("charts",))

    assert str(refused.value) == (
        "drawing charts needs the part 'charts': pip install 'holdfast[charts]'"
    )
    assert await hub.signatures() == ()
    assert hub.missing == {"charts": CHARTS}


async def test_a_call_to_a_server_without_its_part_fails_with_the_command() -> None:
    hub = Hub({}, {"charts": CHARTS})

    with pytest.raises(ToolFailed, match=r"pip install 'holdfast\[charts\]'"):
        await hub.find_reread_method("charts.draw")
    assert await hub.vocabularies("charts.draw", [], facts={}) == {}
