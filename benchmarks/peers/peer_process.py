"""Start a peer system's program as a process in the peers' own environment."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL

import psycopg
from psycopg import sql

from benchmarks.setup.job_graphs import JobGraph

ROOT = Path(__file__).parents[2]
PEERS_PYTHON = Path(sys.prefix) / "peers" / "bin" / "python"
PEERS_MISSING = (
    f"the peers are not installed ({PEERS_PYTHON}): `make bench` installs and measures them"
)
PEER_MODULES = {
    "LangGraph": "benchmarks.peers.langgraph_job",
    "DBOS": "benchmarks.peers.dbos_job",
}


def are_peers_installed() -> bool:
    return PEERS_PYTHON.exists()


@dataclass(frozen=True)
class Peer:
    """One peer's program with a database of its own."""

    module: str
    database_url: str
    address: str

    @asynccontextmanager
    async def running(
        self, job_id: str, graph: JobGraph, *, is_again: bool, changed: str = ""
    ) -> AsyncIterator[Process]:
        """The program working the job; killed with the block, if it is still there.

        With `changed`, the job is of chains, and the second program forks it from that task.
        """
        width, depth = graph.slots, graph.size // graph.slots
        process = await asyncio.create_subprocess_exec(
            str(PEERS_PYTHON),
            "-m",
            self.module,
            self.database_url,
            self.address,
            job_id,
            "again" if is_again else "first",
            str(width),
            str(depth),
            *([changed] if changed else []),
            cwd=ROOT,
            stdin=DEVNULL,
            stdout=PIPE,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def wait_until_done(process: Process) -> None:
    """Wait until the program says that the job is done.

    Raises:
        RuntimeError: it ended before.
    """
    assert process.stdout is not None, "it was started with a pipe"
    async for line in process.stdout:
        if line.strip() == b"done":
            return
    raise RuntimeError(f"the peer ended with {await process.wait()} before its job was done")


def prepare_peer(name: str, database_url: str, address: str) -> Peer:
    """The peer with an empty database on the server that Holdfast uses."""
    plain = database_url.replace("+psycopg", "")
    database = f"peer_{name.lower()}"
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(database)))
    return Peer(PEER_MODULES[name], plain.replace("/holdfast?", f"/{database}?"), address)
