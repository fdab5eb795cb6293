"""Read the arguments of a peer program (DBOS, LangGraph) and call the endpoint that counts."""

import asyncio
import sys
from typing import NamedTuple

from benchmarks.setup.job_graphs import JobGraph, layered_graph, parallel_chains


class PeerOrder(NamedTuple):
    """What a program is started with; `is_again` if the job is in the database already."""

    database_url: str
    address: str
    job_id: str
    is_again: bool
    graph: JobGraph
    changed: str = ""
    """The task from which the job, which has ended, is forked; empty: no fork."""


def read_peer_order() -> PeerOrder:
    database_url, address, job_id, again, width, depth, *changed = sys.argv[1:]
    # A fork is measured over chains, in which four calls depend on the changed one.
    build = parallel_chains if changed else layered_graph
    graph = build(int(width), int(depth), int(width))
    task = changed[0] if again == "again" and changed else ""
    return PeerOrder(database_url, address, job_id, again == "again", graph, task)


async def call_endpoint(address: str, name: str) -> str:
    """The answer of the endpoint that counts; nothing is imported for it that takes time."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /work/{name} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    status, _, _ = answer.partition(b"\r\n")
    if b" 200 " not in status:
        raise RuntimeError(status.decode())
    return answer.partition(b"\r\n\r\n")[2].decode()


def print_done() -> None:
    """The benchmark reads this line."""
    print("done", flush=True)
