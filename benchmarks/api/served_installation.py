"""A whole installation with its HTTP server in a process of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
import psutil

from benchmarks.setup.counted_installation import CountedInstallation, counted_installation
from benchmarks.setup.job_graphs import JobGraph
from benchmarks.setup.timed_stand_ins import graph_request
from holdfast.api.access.installation_token import make_token


@dataclass
class ServedInstallation:
    """An installation, its server, and a client with the installation's token."""

    installation: CountedInstallation
    server: psutil.Process
    http: httpx2.AsyncClient

    @property
    def server_mb(self) -> float:
        return float(self.server.memory_info().rss) / 1e6

    def body(self, graph: JobGraph) -> dict[str, object]:
        """The body that submits the graph; the stand-in for the model plans it by its name."""
        self.installation.calls.model.graphs[graph.name] = graph
        request = graph_request(graph)
        settings = {"slots": graph.slots, "max_tool_calls": 10_000, "max_replans_per_task": 0}
        return {
            "question": request.question,
            "preset": request.preset,
            "model": request.model,
            "settings": settings,
        }


@asynccontextmanager
async def served_installation(latency_s: float = 0.0) -> AsyncIterator[ServedInstallation]:
    """An installation in a new folder with a server at a free port; both end with the block."""
    async with counted_installation(latency_s) as installation:
        words = ("-P", "-m", "holdfast", "serve", "--port", "0")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            assert process.stdout is not None, "it is a pipe"
            url = (await process.stdout.readline()).decode().strip()
            token = make_token(installation.settings.home)
            async with httpx2.AsyncClient(
                base_url=f"{url}/v1",
                headers={"Authorization": f"Bearer {token}"},
                timeout=120,
                limits=httpx2.Limits(max_connections=None),
                trust_env=False,
            ) as http:
                yield ServedInstallation(installation, psutil.Process(process.pid), http)
        finally:
            process.terminate()
            await process.wait()
