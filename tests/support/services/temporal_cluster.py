"""A Temporal cluster on PostgreSQL: its four services as processes of their own.

`make cluster-build` builds the server and its SQL tool from the Go modules of `deploy/cluster`.
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import randrange
from typing import Any

import psycopg
import yaml
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode

from holdfast.services.servers.postgres_account import server_user
from holdfast.temporal.temporal_connection import register_search_attributes

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build/cluster"
SERVICES = ("frontend", "history", "matching", "worker")
HISTORY_SHARDS = 4
_DATABASES = {"temporal": "temporal", "temporal_visibility": "visibility"}
_WITHIN_S = 120.0
_HOST = "127.0.0.1"


def is_built() -> bool:
    """True if `make cluster-build` was run, and a PostgreSQL is installed that can serve it."""
    built = (BUILD / "temporal-server", BUILD / "temporal-sql-tool")
    return all(program.exists() for program in built) and shutil.which("initdb") is not None


def _program(name: str) -> str:
    """A program of the system's PostgreSQL: the one of our wheel lacks `btree_gin`."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


@dataclass
class TcpPostgres:
    """A PostgreSQL that listens at a port of 127.0.0.1; Temporal's server knows no sockets."""

    folder: Path
    port: int
    more_settings: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    def url(self, database: str, driver: str = "postgresql") -> str:
        return f"{driver}://postgres@{_HOST}:{self.port}/{database}"

    def start(self) -> None:
        """Returns once the server answers."""
        user = server_user()
        data = self.folder / "data"
        if not data.exists():
            command = [_program("initdb"), "-D", data, "-U", "postgres", "-A", "trust"]
            done = subprocess.run(command, user=user, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
        settings = {
            "listen_addresses": _HOST,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "fsync": "off",
            **self.more_settings,
        }
        words = [part for item in settings.items() for part in ("-c", "=".join(item))]
        with (self.folder / "postgres.log").open("ab") as log:
            program = _program("postgres")
            self._process = subprocess.Popen([program, "-D", data, *words], user=user, stderr=log)
        _await(self._is_answering, "PostgreSQL does not answer")

    def stop(self) -> None:
        """End it at once; what was committed stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_WITHIN_S)
            self._process = None

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _is_answering(self) -> bool:
        try:
            self.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def tcp_postgres(
    prepare: Callable[[Path], Mapping[str, str]] = lambda _: {},
) -> Iterator[TcpPostgres]:
    """A running server, gone afterwards.

    `prepare` puts files into its folder, and returns the settings that name them.
    """
    # Not pytest's tmp_path: PostgreSQL's user must reach the folder.
    folder = Path(tempfile.mkdtemp(prefix="hf-"))
    settings = prepare(folder)
    if user := server_user():
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, user)
    server = TcpPostgres(folder, free_port(), settings)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass
class TemporalCluster:
    """The four services; the frontend's address stays the same over all their lives."""

    postgres: TcpPostgres
    folder: Path
    ports: Mapping[str, tuple[int, int]] = field(
        default_factory=lambda: {service: (free_port(), free_port()) for service in SERVICES}
    )
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{_HOST}:{self.ports['frontend'][0]}"

    async def start(self) -> Client:
        """Create the databases and start every service; return a client of the cluster."""
        self._create_databases()
        (self.folder / "temporal.yaml").write_text(yaml.safe_dump(self._configuration()))
        for service in SERVICES:
            self.start_service(service)
        return await self._prepared()

    def start_service(self, service: str) -> None:
        words = ["--config-file", str(self.folder / "temporal.yaml"), "--allow-no-auth", "start"]
        with (self.folder / f"{service}.log").open("ab") as log:
            self.processes[service] = subprocess.Popen(
                [BUILD / "temporal-server", *words, "--service", service], stdout=log, stderr=log
            )

    def kill_service(self, service: str) -> None:
        """SIGKILL."""
        process = self.processes.pop(service)
        process.kill()
        process.wait(_WITHIN_S)

    async def replace_by_empty(self) -> None:
        """Lose the cluster with all that it knows, and start an empty one at its address."""
        self.stop()
        for database in _DATABASES:
            self.postgres.execute(f"drop database {database} with (force)")
        await self.start()

    def stop(self) -> None:
        for service in tuple(self.processes):
            self.kill_service(service)

    def cpu_seconds(self) -> dict[str, float]:
        """The processor time that each service has used."""
        ticks = os.sysconf("SC_CLK_TCK")
        used = {}
        for service, process in self.processes.items():
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            used[service] = (int(fields[11]) + int(fields[12])) / ticks
        return used

    def _create_databases(self) -> None:
        tool = [str(BUILD / "temporal-sql-tool"), "--plugin", "postgres12", "--ep", _HOST]
        tool += ["-p", str(self.postgres.port), "-u", "postgres", "--pw", "none"]
        for database, schema in _DATABASES.items():
            versions = BUILD / "schema" / schema / "versioned"
            for words in (
                ["create"],
                ["setup-schema", "-v", "0.0"],
                ["update-schema", "-d", str(versions)],
            ):
                done = subprocess.run(
                    [*tool, "--db", database, *words], capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stdout + done.stderr

    def _configuration(self) -> dict[str, Any]:
        stores = {
            database: {
                "sql": {
                    "pluginName": "postgres12",
                    "databaseName": database,
                    "connectAddr": f"{_HOST}:{self.postgres.port}",
                    "connectProtocol": "tcp",
                    "user": "postgres",
                    "password": "none",
                    "maxConns": 10,
                    "maxIdleConns": 10,
                    "maxConnLifetime": "1h",
                }
            }
            for database in _DATABASES
        }
        return {
            "log": {"stdout": True, "level": "warn"},
            "persistence": {
                "defaultStore": "temporal",
                "visibilityStore": "temporal_visibility",
                "numHistoryShards": HISTORY_SHARDS,
                "datastores": stores,
            },
            "global": {"membership": {"maxJoinDuration": "30s", "broadcastAddress": _HOST}},
            "services": {
                service: {
                    "rpc": {"grpcPort": grpc, "membershipPort": members, "bindOnLocalHost": True}
                }
                for service, (grpc, members) in self.ports.items()
            },
            "clusterMetadata": {
                "enableGlobalNamespace": False,
                "failoverVersionIncrement": 10,
                "masterClusterName": "active",
                "currentClusterName": "active",
                "clusterInformation": {
                    "active": {
                        "enabled": True,
                        "initialFailoverVersion": 1,
                        "rpcName": "frontend",
                        "rpcAddress": self.address,
                    }
                },
            },
            "dcRedirectionPolicy": {"policy": "noop"},
            "publicClient": {"hostPort": self.address},
            "dynamicConfigClient": {
                "filepath": str(ROOT / "deploy/temporal-dynamic-config.yaml"),
                "pollInterval": "10s",
            },
        }

    async def _prepared(self) -> Client:
        """A client of the namespace `default`, which has Holdfast's search attributes."""
        async with asyncio.timeout(_WITHIN_S):
            while True:
                # Services that start together may end each other by registering the same cluster.
                for service, process in tuple(self.processes.items()):
                    if process.poll() is not None:
                        self.start_service(service)
                try:
                    client = await Client.connect(
                        self.address, data_converter=pydantic_data_converter
                    )
                    await _register_namespace(client)
                    await register_search_attributes(client)
                except Exception:  # as many kinds of errors as there are states of its start
                    await asyncio.sleep(0.5)
                else:
                    return client


async def _register_namespace(client: Client) -> None:
    period = Duration()
    period.FromTimedelta(timedelta(days=1))
    asked = RegisterNamespaceRequest(
        namespace="default", workflow_execution_retention_period=period
    )
    try:
        await client.workflow_service.register_namespace(asked)
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise


@asynccontextmanager
async def temporal_cluster(folder: Path) -> AsyncIterator[tuple[TemporalCluster, Client]]:
    """A cluster on a PostgreSQL of its own, and a client; gone afterwards."""
    with tcp_postgres() as postgres:
        cluster = TemporalCluster(postgres, folder)
        try:
            yield cluster, await cluster.start()
        finally:
            cluster.stop()


def free_port() -> int:
    """A port that nobody listens at now; Temporal stores ports as `smallint`, below 32,768."""
    while True:
        port = randrange(12_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((_HOST, port))
            return port


def _await(condition: Any, otherwise: str) -> None:
    given_up = time.monotonic() + _WITHIN_S
    while not condition():
        assert time.monotonic() < given_up, otherwise
        time.sleep(0.05)
