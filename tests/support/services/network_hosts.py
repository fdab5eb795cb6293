"""Hosts of the tests: network namespaces whose links to single services can be cut without a sign.

A cut link loses every packet, as a broken switch does: no connection is refused or reset.
"""

import asyncio
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

from sqlalchemy import make_url

_NOBODY = "02:00:00:00:00:01"
"""A hardware address that no card has."""
_LINKS = ("postgres", "temporal", "model")
_NETWORKS = 250
"""In 198.18.0.0/16, which is kept for tests of networks (RFC 2544)."""


def why_no_hosts() -> str:
    """Return why this process cannot make a host that reaches it; empty if it can."""
    if shutil.which("ip") is None:
        return "the command `ip` is missing"
    try:
        with network_host() as host:
            host.cut(*_LINKS)
            host.heal(*_LINKS)
            _reach_from(host)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return f"no network namespaces here: {error}"
    return ""


@dataclass(frozen=True)
class NetworkHost:
    """A host with one link to each service."""

    name: str
    numbers: Mapping[str, int]

    def address(self, service: str) -> str:
        """The address at which the host reaches the service."""
        return f"198.18.{self.numbers[service]}.1"

    def cut(self, *services: str) -> None:
        """Lose every packet between the host and these services, in both directions."""
        for service in services:
            ours, theirs = self._ends(service)
            lost = ("lladdr", _NOBODY, "nud", "permanent", "dev")
            _ip("neigh", "replace", self._own_address(service), *lost, ours)
            _ip("-n", self.name, "neigh", "replace", self.address(service), *lost, theirs)

    def heal(self, *services: str) -> None:
        """Let packets through again."""
        for service in services:
            ours, theirs = self._ends(service)
            _ip("neigh", "del", self._own_address(service), "dev", ours)
            _ip("-n", self.name, "neigh", "del", self.address(service), "dev", theirs)

    def program(self, *words: str) -> tuple[str, ...]:
        """The words after `python` that run `python WORDS` on this host."""
        command = ["ip", "netns", "exec", self.name, sys.executable, "-P", *words]
        return ("-c", f"import os; os.execvp('ip', {command!r})")

    def connect_links(self) -> None:
        """Make the addresses of both ends of each link."""
        _ip("-n", self.name, "link", "set", "lo", "up")
        for service in self.numbers:
            ours, theirs = self._ends(service)
            _ip("addr", "add", f"{self.address(service)}/24", "dev", ours)
            _ip("link", "set", ours, "up")
            _ip("-n", self.name, "addr", "add", f"{self._own_address(service)}/24", "dev", theirs)
            _ip("-n", self.name, "link", "set", theirs, "up")

    def _own_address(self, service: str) -> str:
        return f"198.18.{self.numbers[service]}.2"

    def _ends(self, service: str) -> tuple[str, str]:
        """The names of both ends of the link: here, and on the host."""
        return _ends(self.numbers[service])


@contextmanager
def network_host() -> Iterator[NetworkHost]:
    """A host that is gone afterwards.

    Raises:
        RuntimeError: this process may not make one.
    """
    name = f"hf-{uuid4().hex[:8]}"
    _ip("netns", "add", name)
    try:
        host = NetworkHost(name, {service: _new_link(name) for service in _LINKS})
        host.connect_links()
        yield host
    finally:
        # Their links end with it.
        _ip("netns", "del", name)


def _new_link(host: str) -> int:
    """Make a link to the host, and return its number, which no other run on this machine has."""
    numbers = random.sample(range(1, _NETWORKS + 1), _NETWORKS)
    for number in numbers:
        ours, theirs = _ends(number)
        if f" {ours}@" in _ip("link", "show"):
            continue
        try:
            _ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", host)
        except RuntimeError as error:
            if "exists" not in str(error):
                raise
            continue  # another run was faster
        return number
    raise RuntimeError("every number of a link is taken")


def _ends(number: int) -> tuple[str, str]:
    return f"hf{number}", f"to{number}"


def _reach_from(host: NetworkHost) -> None:
    """Raise if a program on the host cannot connect to this process."""
    address = host.address(_LINKS[0])
    with socket.create_server((address, 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(({address!r}, {port}), 30).close()"
        command = [sys.executable, *host.program("-c", code)]
        subprocess.run(command, capture_output=True, check=True, timeout=60)


@dataclass(frozen=True)
class Services:
    """Where the services of the tests listen on this machine."""

    database_url: str
    temporal: str
    model_url: str


@asynccontextmanager
async def reachable_services(
    host: NetworkHost, services: Services
) -> AsyncIterator[dict[str, str]]:
    """The variables with which a worker on the host reaches the services, over its links."""
    database, model = make_url(services.database_url), make_url(services.model_url)
    socket_path = f"{database.query['host']}/.s.PGSQL.{database.port or 5432}"
    temporal_host, _, temporal_port = services.temporal.rpartition(":")
    targets = {
        "postgres": partial(asyncio.open_unix_connection, socket_path),
        "temporal": partial(asyncio.open_connection, temporal_host, int(temporal_port)),
        "model": partial(asyncio.open_connection, model.host, model.port),
    }
    relays, ports = [], {}
    for service, target in targets.items():
        relay = await asyncio.start_server(partial(_relay, target), host.address(service), 0)
        relays.append(relay)
        ports[service] = relay.sockets[0].getsockname()[1]
    address = {service: f"{host.address(service)}:{port}" for service, port in ports.items()}
    reached = database.set(host=host.address("postgres"), port=ports["postgres"], query={})
    try:
        yield {
            "HOLDFAST_DATABASE_URL": reached.render_as_string(hide_password=False),
            "TEMPORAL_ADDRESS": address["temporal"],
            "OPENAI_BASE_URL": f"http://{address['model']}/{model.database}",
        }
    finally:
        for relay in relays:
            relay.close()


async def _relay(
    target: partial[object], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Copy bytes in both directions until one side closes."""
    answers, onward = await target()  # type: ignore[misc]
    both = (_copy(reader, onward), _copy(answers, writer))
    try:
        await asyncio.wait(map(asyncio.ensure_future, both), return_when=asyncio.FIRST_COMPLETED)
    finally:
        onward.close()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
