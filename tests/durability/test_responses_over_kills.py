"""Tests that a streamed response goes on after the kill of the server and of the worker (API-05)."""

import asyncio
import socket
import threading
from pathlib import Path

import httpx2
import pytest
from openai import AsyncOpenAI

from holdfast.api.access.installation_token import make_token
from tests.durability.worker_launcher import WorkerLauncher, WorkerProcess, kill_worker
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(170)]
QUOTE = "The pier was built by Ida Marsh in 1868."


@pytest.fixture
def port() -> int:
    """A free port, which the server has again after it was killed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.conformance("API-05")
@pytest.mark.long
async def test_a_stream_goes_on_after_the_kill_of_server_and_worker(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
    port: int,
    tmp_path: Path,
) -> None:
    may_answer = threading.Event()

    def answer(_: str) -> str:
        may_answer.wait(60)
        return QUOTE

    tools.answers = answer
    players.plan = plan(lookup_task("T1", query="pier"), final_task("T2", "T1"))
    worker = await workers.start("--supervise")
    home = tmp_path / "server"
    server = await _serving(workers, home, port)
    url = f"http://127.0.0.1:{port}/v1"
    async with AsyncOpenAI(base_url=url, api_key=make_token(home), max_retries=5) as client:
        stream = await client.responses.create(
            model="holdfast-kpi-chain", input="Who built the pier?", stream=True
        )
        first = []
        async for event in stream:
            first.append(event)
            if event.type == "response.reasoning_summary_text.done":
                break
        response_id = first[0].response.id  # type: ignore[union-attr]  # the first event has it

        server.process.kill()
        await kill_worker(worker)
        await _serving(workers, home, port)
        may_answer.set()
        last = first[-1].sequence_number
        rest = [
            event
            async for event in await client.responses.retrieve(
                response_id, stream=True, starting_after=last
            )
        ]

    numbers = [event.sequence_number for event in (*first, *rest)]
    assert numbers == list(range(len(numbers)))
    assert rest[-1].type == "response.completed"
    assert "Ida Marsh" in rest[-1].response.output_text
    kinds = [event.type for event in (*first, *rest)]
    assert kinds.count("response.created") == kinds.count("response.output_text.done") == 1


async def _serving(workers: WorkerLauncher, home: Path, port: int) -> WorkerProcess:
    """A server process at that port that answers."""
    server = workers.launch(
        "serve",
        "--port",
        str(port),
        program=("-m", "holdfast"),
        HOLDFAST_HOME=str(home),
        HOLDFAST_MODEL="scripted",
    )
    async with httpx2.AsyncClient(trust_env=False) as client, asyncio.timeout(60):
        while True:
            try:
                await client.get(f"http://127.0.0.1:{port}/v1/health")
            except httpx2.TransportError:
                assert server.process.poll() is None, (server.folder / "worker.log").read_text()
                await asyncio.sleep(0.05)
            else:
                return server
