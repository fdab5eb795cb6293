"""A worker with the stand-ins in a process of its own, for measuring its memory."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from activities.parts import Models
from benchmarks.graphs import layered
from benchmarks.stand_ins import TOOL, TimedModel, timed_tools
from holdfast.logs import configure_logs
from holdfast.settings import Settings
from roles.extractive.model import ExtractiveModel
from storage.database import Database
from tools.config import StdioServer
from tools.hub import Hub
from worker import Parts, build_worker

BIG_TOOL = "big.look_up"


async def serve(arguments: list[str]) -> None:
    """Work until SIGTERM."""
    database_url, address, queue, ready, sleep_s, big_mb, graph_name = arguments
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    db = Database(database_url)
    known = [layered(1, 1, 1), layered(10, 2, 3), layered(2, 2, 3)]
    graphs = {graph.name: graph for graph in known}
    model = TimedModel(graphs, BIG_TOOL if int(big_mb) else TOOL)
    command = (sys.executable, "-m", "benchmarks.big_tool", big_mb)
    big = {"big": StdioServer(command=command, cwd=Path.cwd())} if int(big_mb) else {}
    assert graph_name in graphs, graph_name
    async with Hub(big, {"timed": timed_tools(lambda: float(sleep_s))}) as hub:
        parts = Parts(db, hub, Models(ExtractiveModel(), model))
        settings = Settings(home=Path(ready).parent, task_queue=queue)
        async with build_worker(client, parts, settings):
            _tell(ready)
            await stop.wait()
    await db.close()


def _tell(ready: str) -> None:
    Path(ready).touch()


if __name__ == "__main__":
    configure_logs("ERROR")
    asyncio.run(serve(sys.argv[1:]))
    os._exit(0)
