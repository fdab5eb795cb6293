"""Tests of research by an MCP host that starts `holdfast mcp` as a process, and loses it."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

import holdfast
from tests.support.services.command_shell import CommandShell, command_shell
from tests.support.services.mcp_host import answer_of, refusal_of, text_answer_of

pytestmark = pytest.mark.slow

DOCS = str(Path(holdfast.__file__).parent / "demo" / "collection")
QUESTION = {"question": "Who designed the Gannet Stair Light?", "collection": "lights"}
HOST_LIMIT_S = 20


@pytest.fixture(scope="module")
def here() -> Iterator[CommandShell]:
    """An installation with a collection, whose services do not run."""
    with command_shell() as here:
        added = here.holdfast("corpus", "add", DOCS, "--collection", "lights")
        assert added.code == 0, added.err
        assert here.holdfast("down").code == 0
        yield here


@asynccontextmanager
async def stdio_host(here: CommandShell, **options: Any) -> AsyncIterator[Client]:
    """A client of a server that it starts; the server's own words go to the test's output."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp"],
        env=here.environment(),
        cwd=here.folder,
    )
    async with Client(server, **options) as client:
        yield client


async def ended(client: Client, job: str) -> dict[str, Any]:
    while True:
        begin = time.monotonic()
        state = await answer_of(client, "research_wait", job=job)
        assert time.monotonic() - begin < HOST_LIMIT_S
        if state["status"] in ("done", "failed", "cancelled"):
            return state


async def started_job(client: Client, **more: Any) -> str:
    """Start a job; the services may need longer to start than a call may take."""
    for _ in range(10):
        result = await client.call_tool("research_start", QUESTION | more)
        if not result.is_error:
            return str(json.loads(result.content[0].text)["job"])  # type: ignore[union-attr]  # the tool answers in JSON
        assert "still starting" in str(result.content), result
    raise AssertionError


def servers(here: CommandShell) -> list[psutil.Process]:
    def is_server(process: psutil.Process) -> bool:
        words = process.info["cmdline"] or []
        return words[-2:] == ["holdfast", "mcp"] and process.cwd() == str(here.folder)

    return [each for each in psutil.process_iter(["cmdline"]) if is_server(each)]


@pytest.mark.conformance("BEY-10")
@pytest.mark.conformance("MCP-01")
async def test_a_host_that_starts_everything_reads_its_report_after_the_server_was_killed(
    here: CommandShell,
) -> None:
    async with stdio_host(here, mode="legacy") as client:
        begin = time.monotonic()
        tools = await client.list_tools()
        assert time.monotonic() - begin < HOST_LIMIT_S
        job = await started_job(client)
        (server,) = servers(here)
        server.send_signal(signal.SIGKILL)
        server.wait(10)
    async with stdio_host(here) as client:
        state = await ended(client, job)
        report = await text_answer_of(client, "research_report", job=job)
        source = await answer_of(client, "research_source", job=job, mark=1)
        refused = await refusal_of(client, "research_status", job="job-none")

    assert {"research_start", "research_wait", "research_report"} <= {
        each.name for each in tools.tools
    }
    assert state["status"] == "done"
    assert state["page"].endswith(f"/jobs/{job}")
    assert "Orlan Treave" in report
    assert source["quote"] in source["passage"]
    assert "there is no job 'job-none'" in refused


@pytest.mark.conformance("MCP-01")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.long
async def test_a_question_reaches_the_user_of_a_host_over_stdio(
    mode: str, here: CommandShell
) -> None:
    asked = []

    async def approve(_: object, form: Any) -> ElicitResult:
        asked.append(form.message)
        return ElicitResult(action="accept", content={"choice": "approve"})

    async with stdio_host(here, mode=mode, elicitation_callback=approve) as client:
        job = await started_job(client, review=True)
        state = await ended(client, job)

    assert len(asked) == 1
    assert (state["status"], state["questions"]) == ("done", [])


@pytest.mark.long
async def test_services_that_ended_are_started_again_for_the_next_call(here: CommandShell) -> None:
    async with stdio_host(here) as client:
        job = await started_job(client)
        await ended(client, job)
        stopped = await asyncio.to_thread(here.holdfast, "down")
        lost = await client.call_tool("research_report", {"job": job})
        for _ in range(10):
            result = await client.call_tool("research_report", {"job": job})
            if not result.is_error:
                break

    assert stopped.code == 0
    assert lost.is_error
    assert "Orlan Treave" in str(result.content)


def test_input_that_is_no_protocol_ends_without_a_traceback(here: CommandShell) -> None:
    done = here.holdfast("mcp", stdin=b'hello\n{"jsonrpc": 1}\n\xff\xfe\n')

    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    for line in done.out.splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
