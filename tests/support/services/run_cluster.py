"""Run Holdfast's demo on a real Temporal cluster: `make cluster`.

PostgreSQL, Temporal's four services, two servers of the API and some workers are processes of
their own on this computer. At the end, the processor time of each is printed, and all are ended.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx2
import psutil

from holdfast.storage.core.schema_migration import migrate_schema
from tests.support.services.bare_environment import bare_environment
from tests.support.services.temporal_cluster import (
    TemporalCluster,
    free_port,
    is_built,
    temporal_cluster,
)

_WITHIN_S = 120.0


async def run(workers: int) -> int:
    """Return the exit code of the demo's question."""
    with tempfile.TemporaryDirectory(prefix="hf-") as folder:
        async with temporal_cluster(Path(folder)) as (cluster, _):
            cluster.postgres.execute("create database holdfast")
            url = cluster.postgres.url("holdfast", "postgresql+psycopg")
            await asyncio.to_thread(migrate_schema, url)
            return await asyncio.to_thread(_demo, cluster, Path(folder), workers)


def _demo(cluster: TemporalCluster, folder: Path, workers: int) -> int:
    environment = bare_environment() | {
        "HOLDFAST_HOME": str(folder / "home"),
        "HOLDFAST_DATABASE_URL": cluster.postgres.url("holdfast"),
        "TEMPORAL_ADDRESS": cluster.address,
        "TEMPORAL_CONFIG_FILE": os.devnull,
    }
    ports = (free_port(), free_port())
    commands = [["holdfast.worker", "--supervise"]] * workers
    commands += [["holdfast", "serve", "--port", str(port)] for port in ports]
    log = (folder / "processes.log").open("ab")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *words],
            env=environment | {"HOLDFAST_READY_FILE": str(folder / f"ready-{number}")},
            stdout=log,
            stderr=log,
        )
        for number, words in enumerate(commands)
    ]
    try:
        for port in ports:
            _await_server(f"http://127.0.0.1:{port}/v1/health")
        documents = Path(__file__).parents[3] / "holdfast/demo/collection"
        question = "Who designed the Gannet Stair Light?"
        words = ["run", question, "--docs", str(documents), "--collection", "lights"]
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words], env=environment, check=False
        )
        sys.stdout.write(
            f"\nthe answer took {time.monotonic() - began:.1f} s; processor time so far:\n"
        )
        _print_times(cluster, commands, processes)
        return done.returncode
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(_WITHIN_S)
        log.close()


def _print_times(
    cluster: TemporalCluster,
    commands: Sequence[Sequence[str]],
    processes: Sequence[subprocess.Popen[bytes]],
) -> None:
    for service, seconds in cluster.cpu_seconds().items():
        sys.stdout.write(f"  Temporal {service:<10} {seconds:6.1f} s\n")
    for words, process in zip(commands, processes, strict=True):
        whole = psutil.Process(process.pid)
        each = [whole, *whole.children(recursive=True)]
        seconds = sum(sum(one.cpu_times()[:2]) for one in each)
        sys.stdout.write(
            f"  {words[1] if len(words) > 2 else 'worker':<19} {seconds:6.1f} s" + "\n"
        )


def _await_server(address: str) -> None:
    given_up = time.monotonic() + _WITHIN_S
    while True:
        try:
            if httpx2.get(address, trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        assert time.monotonic() < given_up, f"no answer from {address}"
        time.sleep(0.1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    if not is_built():
        sys.exit("run `make cluster-build` first; PostgreSQL with btree_gin must be installed")
    sys.exit(asyncio.run(run(parser.parse_args().workers)))
