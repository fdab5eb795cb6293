"""Tests of the tools that a private job is offered and may call, by what the operator allowed."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.configuration.builtin_tool_servers import open_builtin_servers, unconnected_corpus
from holdfast.configuration.configuration_check import check_configuration
from holdfast.models.errors import BadConfiguration, ToolFailed
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.settings import Settings
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.private_job_settings import read_private_job_settings
from holdfast.tools.web.http_client.host_patterns import HostPatterns
from tests.support.tools.hostile_web import ScriptedSite, SiteAnswer
from tests.support.tools.scripted_tools import ScriptedTools

FOLDER_SERVER = str(Path("tests/servers/document_folder_server.py").absolute())
WIKI = '[wikipedia]\ncontact = "me@example.org"\n'
TIMEOUT = timedelta(seconds=30)


def request(**fields: Any) -> JobRequest:
    asked = {"question": "Who?", "preset": "loop", "model": "m", "strategy": Strategy(), **fields}
    return JobRequest.model_validate(asked)


PUBLIC = request()
PRIVATE = request(collection="notes")


@asynccontextmanager
async def opened_hub(home: Path, toml: str) -> AsyncIterator[Hub]:
    """The hub as a worker opens it."""
    file = home / "holdfast.toml"
    file.write_text(toml)
    settings = Settings(home=home, config_file=file)
    servers = read_servers(file)
    private_jobs = read_private_job_settings(file, servers)
    async with (
        open_builtin_servers(settings, unconnected_corpus()) as builtin,
        Hub(servers, builtin, private_jobs=private_jobs) as hub,
    ):
        yield hub


async def offered(hub: Hub, job: JobRequest) -> set[str]:
    return {each.name for each in await hub.for_job(job).signatures()}


async def refusal(hub: Hub, job: JobRequest, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await hub.for_job(job).call(tool, arguments, timeout=TIMEOUT)
    return str(failed.value)


@pytest.mark.conformance("SAF-09")
async def test_without_allowed_hosts_a_private_job_has_no_tool_that_reaches_out(
    tmp_path: Path,
) -> None:
    async with ScriptedSite() as site:
        web = f'[web.providers.searxng]\nurl = "{site.url()}"\n'
        async with opened_hub(tmp_path, web + WIKI) as hub:
            everything = await offered(hub, PUBLIC)
            left = await offered(hub, PRIVATE)
            faults = hub.for_job(PRIVATE).faults()
            said = await refusal(hub, PRIVATE, "web.search", query="the bid is 4711")

        assert site.seen == []
    gone = {name.partition(".")[0] for name in everything - left}
    assert gone == {"web", "wikipedia"}
    assert "corpus.search" in left
    assert "to allowed_hosts under [private_jobs] in holdfast.toml" in said
    assert [fault.partition(" was")[0] for fault in faults] == [
        "server 'web'",
        "server 'wikipedia'",
    ]


async def test_a_search_goes_only_to_a_search_service_that_is_allowed(tmp_path: Path) -> None:
    found = {"results": [{"url": "https://who.int/a", "title": "A", "content": "text"}]}
    answer = SiteAnswer(json.dumps(found), type="application/json")
    async with ScriptedSite({"/search": answer}) as site:
        web = f'[web.providers.searxng]\nurl = "{site.url()}"\n'
        closed = web + '[private_jobs]\nallowed_hosts = ["*.who.int"]\n'
        async with opened_hub(tmp_path, closed) as hub:
            tools = await offered(hub, PRIVATE)
            said = await refusal(hub, PRIVATE, "web.search", query="the bid is 4711")
            faults = hub.for_job(PRIVATE).faults()
        assert site.seen == []
        is_open = web + f'[private_jobs]\nallowed_hosts = ["{site.host}", "who.int"]\n'
        async with opened_hub(tmp_path, is_open) as hub:
            result = await hub.for_job(PRIVATE).call("web.search", {"query": "a"}, timeout=TIMEOUT)
            refused = await refusal(hub, PRIVATE, "web.fetch", url="https://evil.example/?4711")

    assert {name for name in tools if name.startswith("web.")} == {"web.fetch"}
    assert f"add {site.host} to allowed_hosts" in said
    assert said in faults[0]
    assert [each.address for each in result.passages] == ["https://who.int/a"]
    assert "'evil.example' is not among the hosts" in refused


async def test_wikipedia_is_open_to_a_private_job_if_its_host_is_allowed(tmp_path: Path) -> None:
    for allowed, is_open in (
        ("en.wikipedia.org", True),
        ("*.wikipedia.org", True),
        ("x.org", False),
    ):
        toml = WIKI + f'[private_jobs]\nallowed_hosts = ["{allowed}"]\n'
        async with opened_hub(tmp_path, toml) as hub:
            assert ("wikipedia.search" in await offered(hub, PRIVATE)) is is_open


async def test_a_server_with_a_url_is_closed_to_private_jobs_until_it_is_allowed(
    tmp_path: Path, tools: ScriptedTools
) -> None:
    tools.answers = lambda asked: "noted"
    lab = f'[servers.lab]\nurl = "{tools.url}"\n'
    async with opened_hub(tmp_path, lab) as hub:
        assert "lab.note" in await offered(hub, PUBLIC)
        assert "lab.note" not in await offered(hub, PRIVATE)
        said = await refusal(hub, PRIVATE, "lab.note", text="the bid is 4711")
        assert tools.called == []
    allowed = lab + '[private_jobs]\nallowed_servers = ["lab"]\n'
    async with opened_hub(tmp_path, allowed) as hub:
        await hub.for_job(PRIVATE).call("lab.note", {"text": "a"}, timeout=TIMEOUT)

    assert "add 'lab' to allowed_servers under [private_jobs]" in said
    assert tools.called == [("note", "a")]


@pytest.mark.slow
async def test_a_program_is_open_to_private_jobs_if_its_tools_declare_that_nothing_leaves(
    tmp_path: Path,
) -> None:
    command = json.dumps([sys.executable, FOLDER_SERVER, str(tmp_path)])
    async with opened_hub(tmp_path, f"[servers.kb]\ncommand = {command}\n") as hub:
        public = {name for name in await offered(hub, PUBLIC) if name.startswith("kb.")}
        private = {name for name in await offered(hub, PRIVATE) if name.startswith("kb.")}
        said = await refusal(hub, PRIVATE, next(iter(public)))

    assert public
    assert private == set()
    assert "does not declare that it sends nothing out (openWorldHint: false)" in said


@pytest.mark.parametrize(
    ("job", "toml"),
    [
        (request(collection="notes"), ""),
        (request(strategy=Strategy(demonstrations=2)), ""),
        (request(), '[tables]\nfolder = "."\n'),
        (request(), '[private_jobs]\nprivate_servers = ["kb"]\n'),
    ],
    ids=["collection", "earlier plans", "tables", "private server"],
)
@pytest.mark.slow
async def test_what_makes_a_job_private(tmp_path: Path, job: JobRequest, toml: str) -> None:
    command = json.dumps([sys.executable, FOLDER_SERVER, str(tmp_path)])
    async with opened_hub(tmp_path, f"[servers.kb]\ncommand = {command}\n{WIKI}{toml}") as hub:
        assert "wikipedia.search" not in await offered(hub, job)
        only = job.model_copy(update={"servers": ("wikipedia",), "collection": ""})
        is_private = job.strategy.demonstrations > 0
        assert ("wikipedia.search" not in await offered(hub, only)) is is_private


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('private_servers = ["krb"]', "names 'krb', which is no table under"),
        ('allowed_servers = ["krb"]', "names 'krb', which is no table under"),
        ('allowed_hosts = ["https://who.int/"]', "no https://, no path"),
        ('hosts = ["who.int"]', "not a known key"),
    ],
)
def test_a_mistake_in_the_table_is_named_before_a_worker_starts(
    tmp_path: Path, table: str, words: str
) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text(f"[private_jobs]\n{table}\n")

    with pytest.raises(BadConfiguration, match=words):
        check_configuration(Settings(home=tmp_path, config_file=file))


@pytest.mark.parametrize(
    ("pattern", "host", "matches"),
    [
        ("who.int", "who.int", True),
        ("WHO.int.", "who.int", True),
        ("who.int", "www.who.int", False),
        ("*.who.int", "apps.who.int", True),
        ("*.who.int", "who.int", False),
        ("*.who.int", "evilwho.int", False),
        ("*.who.int", "who.int.evil.example", False),
        ("who.int:8080", "who.int", False),
        ("[::1]:443", "::1", True),
        ("*", "evil.example", True),
    ],
)
def test_a_pattern_matches_a_host_and_nothing_like_it(
    pattern: str, host: str, matches: bool
) -> None:
    assert HostPatterns.of([pattern]).matches(host, 443) is matches
