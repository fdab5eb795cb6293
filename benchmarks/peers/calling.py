"""What the programs of the peers share: their arguments, and a call by plain HTTP."""

import asyncio
import sys
from typing import NamedTuple

from benchmarks.graphs import Graph, layered


class Order(NamedTuple):
    """What a program is started with; `is_again` after its predecessor was killed."""

    database_url: str
    address: str
    job_id: str
    is_again: bool
    graph: Graph


def read_order() -> Order:
    database_url, address, job_id, again, width, depth = sys.argv[1:]
    graph = layered(int(width), int(depth), int(width))
    return Order(database_url, address, job_id, again == "again", graph)


async def call(address: str, name: str) -> str:
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


def tell_done() -> None:
    """The benchmark reads this line."""
    print("done", flush=True)
