"""Tests for the built-in servers that `holdfast.toml` enables, as the worker and the doctor read
the file."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
from holdfast.jobs.server_checks import check_server_names
from holdfast.models.errors import BadConfiguration, BadInput, PartMissing
from holdfast.services.checks.health_checks import HealthCheckResult, _builtin, _web, _wikipedia
from holdfast.settings import Settings
from holdfast.tools.mcp.tool_server import BuiltinServer, MissingServer
from holdfast.tools.optional_parts import OptionalPart
from tests.support.tools.missing_parts import hide_parts

OFFLINE = {"charts", "corpus", "python"}
"""What is there without a word, and reaches nobody."""


def configured(folder: Path, toml: str) -> Settings:
    file = folder / "holdfast.toml"
    file.write_text(toml)
    return Settings(home=folder, config_file=file)


async def servers(settings: Settings) -> Mapping[str, BuiltinServer | MissingServer]:
    async with open_builtin_servers(settings, unconnected_corpus()) as found:
        return found


async def test_nothing_leaves_the_machine_unless_the_operator_says_so(tmp_path: Path) -> None:
    assert set(await servers(Settings(home=tmp_path, config_file=None))) == OFFLINE
    assert set(await servers(configured(tmp_path, "[agents.web]\n"))) == OFFLINE
    assert (await _web(configured(tmp_path, ""), None)).is_good is None
    assert (await _wikipedia(configured(tmp_path, ""), None)).is_good is None


async def test_tables_turn_the_servers_on(tmp_path: Path) -> None:
    settings = configured(tmp_path, '[web]\n[wikipedia]\ncontact = "a@b.example"\n')

    assert set(await servers(settings)) == OFFLINE | {"web", "wikipedia"}
    assert (await _web(settings, None)).detail == "on; search by duckduckgo"
    found = (await _wikipedia(settings, None)).detail
    assert found == "on, at https://en.wikipedia.org/w/api.php"


async def test_doctor_says_whose_key_is_missing_and_never_shows_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = configured(
        tmp_path,
        '[web.providers.searxng]\nurl = "http://localhost:8888"\n'
        '[web.providers.brave]\nkey_env = "BRAVE_KEY_OF_TEST"\n',
    )
    lacking = await _web(settings, None)
    monkeypatch.setenv("BRAVE_KEY_OF_TEST", "planted-4711")
    complete = await _web(settings, None)

    assert lacking.is_good is False
    assert "brave (BRAVE_KEY_OF_TEST is not set)" in lacking.detail
    assert complete.detail == "on; search by searxng, brave (key set)"
    shown = HealthCheckResult(part="web", status="ok", detail=complete.detail)
    assert "planted" not in repr((shown, settings, await servers(settings)))


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("web = true\n", "must be a table"),
        ("[web]\nrobot = 'obey'\n", "web.robot is not a known key"),
        ("[web]\nrobots = 'sometimes'\n", 'robots = "obey"'),
        ("[web]\nports = [99999]\n", "web.ports"),
        ("[web]\nallow_hosts = ['http://a/b']\n", "web.allow_hosts"),
        ('[web]\ncontact = "a\\r\\nX: y"\n', "web.contact"),
        ("[web.providers.google]\n", "not a known provider"),
        ("[web.providers.brave]\nkey = 'sk-1'\n", "web.providers"),
        ("[web.providers.brave]\nkey_env = 'sk-1-2'\n", "web.providers"),
        ("[web.providers.searxng]\nurl = 'http://me:pass@localhost'\n", "web.providers"),
        ("[wikipedia]\n", 'contact = "you@example.org"'),
        ("[wikipedia]\ncontact = 'a@b.c'\nlanguage = 'en/../x'\n", 'language = "en"'),
    ],
)
async def test_table_that_is_not_right_says_what_to_write(
    tmp_path: Path, toml: str, words: str
) -> None:
    with pytest.raises(BadConfiguration) as refused:
        await servers(configured(tmp_path, toml))

    assert words in str(refused.value)
    assert "sk-1" not in str(refused.value)
    assert "pass" not in str(refused.value)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[pythons]\nenabled = false\n", "unknown table 'pythons'; write [python]; known here"),
        ('[tools.servers.kb]\ncommand = ["kb"]\n', "unknown table 'tools'; known here: agents"),
        ('[tables]\nfolder = "gone"\n', "tables.folder names no folder"),
        ('[python]\ndata_libraries = "gone"\n', "has no bin/python; name a virtual environment"),
        ('[embeddings]\nmodel = "m"\nkey_env = "NO_KEY_OF_TEST"\n', "NO_KEY_OF_TEST, which is not"),
        ('[servers.corpus]\ncommand = ["kb"]\n', "'corpus' comes with Holdfast; rename yours"),
    ],
)
async def test_doctor_says_what_keeps_a_worker_from_starting(
    tmp_path: Path, toml: str, said: str
) -> None:
    with pytest.raises(BadConfiguration) as refused:
        await _builtin(configured(tmp_path, toml), None)

    assert said in str(refused.value)
    right = await _builtin(configured(tmp_path, "[web]\n"), None)
    assert right.detail == "charts, corpus, python, web"


async def test_a_server_without_its_part_is_left_out_and_doctor_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_parts(monkeypatch, *OptionalPart)

    found = await servers(Settings(home=tmp_path, config_file=None))
    outcome = await _builtin(Settings(home=tmp_path, config_file=None), None)

    assert {name for name, each in found.items() if isinstance(each, BuiltinServer)} == {"corpus"}
    assert outcome.is_good
    assert outcome.detail == (
        "corpus; drawing charts needs the part 'charts': pip install 'holdfast[charts]'; "
        "running Python code needs the part 'python': pip install 'holdfast[python]'"
    )


@pytest.mark.parametrize(
    ("toml", "part"),
    [("[python]\n", "python"), ('[tables]\nfolder = "."\n', "tables"), ("[web]\n", "web")],
)
async def test_a_table_that_turns_on_a_missing_part_is_refused_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, part: str
) -> None:
    hide_parts(monkeypatch, *OptionalPart)

    with pytest.raises(PartMissing) as refused:
        await servers(configured(tmp_path, toml))

    assert str(refused.value) == (
        f"{tmp_path}/holdfast.toml: the table [{part}] needs the part '{part}': "
        f"pip install 'holdfast[{part}]'"
    )


async def test_a_server_that_is_turned_off_needs_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_parts(monkeypatch, OptionalPart.PYTHON)

    found = await servers(configured(tmp_path, "[python]\nenabled = false\n"))

    assert set(found) == {"charts", "corpus"}


async def test_servers_option_refuses_a_missing_part_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEMPORAL_ADDRESS", raising=False)
    hide_parts(monkeypatch, OptionalPart.CHARTS)
    settings = Settings(home=tmp_path, config_file=None)

    await check_server_names(["corpus", "python"], settings)
    with pytest.raises(PartMissing, match=r"pip install 'holdfast\[charts\]'"):
        await check_server_names(["corpus", "charts"], settings)
    with pytest.raises(BadInput, match=r"no server 'evil'; there are: corpus, python$"):
        await check_server_names(["evil"], settings)


@pytest.mark.parametrize("check", [_web, _wikipedia])
async def test_doctor_does_not_call_the_web_on_without_its_part(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    check: Callable[[Settings, None], Awaitable[object]],
) -> None:
    hide_parts(monkeypatch, OptionalPart.WEB)
    settings = configured(tmp_path, '[web]\n[wikipedia]\ncontact = "a@b.example"\n')

    with pytest.raises(PartMissing, match=r"pip install 'holdfast\[web\]'"):
        await check(settings, None)
