"""Run `holdfast serve` as a process, which a test can kill."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.bare_environment import bare_environment


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def server_process(engine: RunningEngine, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`holdfast serve` over the installation of the engine, once it listens."""
    environment = bare_environment() | {
        "HOLDFAST_HOME": str(engine.holdfast.settings.home),
        "HOLDFAST_DATABASE_URL": engine.holdfast.endpoints.database_url,
        "TEMPORAL_ADDRESS": engine.holdfast.endpoints.temporal_address,
        # The worker of the engine polls a queue of its own.
        "HOLDFAST_TASK_QUEUE": engine.holdfast.settings.task_queue,
    }
    command = [sys.executable, "-P", "-m", "holdfast", "serve", "--port", str(port)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout
        assert process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()
