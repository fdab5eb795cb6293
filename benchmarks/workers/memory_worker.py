"""Run a worker with the stand-in model and tools as a process of its own, so that its memory can
be measured."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks.setup.job_graphs import layered_graph, wide_graph
from benchmarks.setup.statement_counter import count_statements
from benchmarks.setup.timed_stand_ins import TIMED_TOOL, TimedModel, timed_tool_server
from benchmarks.workers.worker_processes import statement_file
from holdfast.activities.runtime.activity_services import ModelRegistry, Services
from holdfast.configuration.json_logs import configure_logs
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.settings import Settings
from holdfast.storage.core.database import Database
from holdfast.tools.mcp.server_config import StdioServer
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.worker import build_worker

BIG_TOOL = "big.look_up"


async def run_memory_worker(arguments: list[str]) -> None:
    """Work until SIGTERM."""
    database_url, address, queue, ready, sleep_s, big_mb, graph_name = arguments
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    db = Database(database_url)
    known = [
        layered_graph(1, 1, 1),
        layered_graph(10, 2, 3),
        layered_graph(2, 2, 3),
        layered_graph(10, 2, 10),
        wide_graph(100, 100),
    ]
    graphs = {graph.name: graph for graph in known}
    model = TimedModel(graphs, BIG_TOOL if int(big_mb) else TIMED_TOOL)
    command = (sys.executable, "-m", "benchmarks.workers.large_answer_server", big_mb)
    big = {"big": StdioServer(command=command, cwd=Path.cwd())} if int(big_mb) else {}
    assert graph_name in graphs, graph_name
    async with Hub(big, {"timed": timed_tool_server(lambda: float(sleep_s))}) as hub:
        parts = Services(db, ModelRegistry(ExtractiveModel(), model), hub)
        settings = Settings(home=Path(ready).parent, task_queue=queue)
        with count_statements(db.engine) as counted:
            async with build_worker(client, parts, settings):
                _tell_ready(ready)
                await stop.wait()
        written = statement_file(Path(ready).parent, os.getpid())
        written.write_text(str(counted.statements))
    await db.close()


def _tell_ready(ready: str) -> None:
    Path(ready).touch()


if __name__ == "__main__":
    configure_logs("ERROR")
    asyncio.run(run_memory_worker(sys.argv[1:]))
    os._exit(0)
