"""Tests that the files of docs/how-to/ are what Holdfast reads, and do what the pages say."""

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.configuration.configuration_check import check_configuration
from holdfast.configuration.http_settings import read_http
from holdfast.configuration.known_models import known_models
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.settings import Settings
from holdfast.tools.private_job_settings import read_private_job_settings
from tests.support.documentation.page_steps import FileStep, page_steps
from tests.support.documentation.pages import ROOT
from tests.support.services.command_shell import CommandShell, command_shell

FOLDER = ROOT / "docs/how-to"
pytestmark = pytest.mark.conformance("PUB-05")


def write_files(page: str, folder: Path) -> set[str]:
    """Write the files of a page into a folder, and return their names."""
    files = [step for step in page_steps(FOLDER / page) if isinstance(step, FileStep)]
    for file in files:
        (folder / file.name).write_text(file.text)
    return {file.name for file in files}


@pytest.fixture
def shell() -> Iterator[CommandShell]:
    with command_shell() as shell:
        yield shell


def test_every_configuration_of_the_how_tos_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-how-to")
    checked = []
    for page in sorted(FOLDER.glob("*.md")):
        folder = tmp_path / page.stem
        folder.mkdir()
        if "holdfast.toml" in write_files(page.name, folder):
            check_configuration(Settings(config_file=folder / "holdfast.toml"))
            checked.append(page.stem)

    assert checked == [
        "behind-a-proxy",
        "own-agent",
        "own-tool-server",
        "private-documents",
        "several-models",
    ]


def test_the_pages_say_what_their_files_set(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    write_files("behind-a-proxy.md", tmp_path)
    http = read_http(file)
    write_files("private-documents.md", tmp_path)
    private = read_private_job_settings(file, ["library"])
    write_files("several-models.md", tmp_path)
    models = known_models(Settings(config_file=file, openai_api_key="sk-how-to"))

    assert (list(http.names), list(map(str, http.trusted_proxies))) == (
        ["research.example.org"],
        ["127.0.0.1"],
    )
    assert private.allowed_servers == ("library",)
    assert {"big", "small", "local"} <= models.configured.keys()


def test_the_preset_of_the_page_is_valid() -> None:
    page = (FOLDER / "own-preset.md").read_text()
    table = tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])["careful"]
    settings = {name: value for name, value in table.items() if name not in ("title", "source")}
    names: dict[str, dict[str, object]] = {}
    exec(page.partition("```python\n")[2].partition("```")[0], names)

    assert Strategy.model_validate(settings).opens_with_loop
    assert Strategy.model_validate(names["CAREFUL"]).confidence_threshold == 0.8


@pytest.mark.slow
def test_the_agent_of_the_page_can_call_the_tool_of_the_page(shell: CommandShell) -> None:
    write_files("own-tool-server.md", shell.folder)
    write_files("own-agent.md", shell.folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    listed = shell.holdfast("agents", "--json", PATH=path)

    assert listed.code == 0, listed.err
    agents = {each["name"]: each for each in json.loads(listed.out)}
    assert agents["librarian"]["tools"] == ["corpus.search", "library.loans"]
    assert agents["librarian"]["can_work"]


def test_the_configuration_for_nginx_passes_what_holdfast_needs() -> None:
    """The headers that `trusted_proxies` believes, unbuffered streams, and the default address."""
    page = (FOLDER / "behind-a-proxy.md").read_text()
    needed = (
        "proxy_pass http://127.0.0.1:8765;",
        "proxy_set_header Host $host;",
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        "proxy_buffering off;",
    )

    assert [each for each in needed if each not in page] == []
