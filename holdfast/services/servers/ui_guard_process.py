"""Start and stop the guard of the embedded Temporal UI, and hide the address of the UI itself.

The UI itself listens at an address of 127.0.0.0/8 and a port that are drawn at each start: a web
page would have to guess one of 16 million addresses. Where the system has only 127.0.0.1, the
port alone is unknown.
"""

import os
import secrets
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from holdfast.services import detached_processes
from holdfast.services.service_state import RunningProcess

HOST = "127.0.0.1"
_MODULE = "holdfast.temporal_ui.guard_server"
_VARIABLES = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH")
_START_TIMEOUT_S = 20.0
_STOP_SIGNALS = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 30.0))
_POLL_INTERVAL_S = 0.02


class HiddenAddress(NamedTuple):
    """The address at which the UI itself listens."""

    ip: str
    port: int


def draw_address() -> HiddenAddress:
    """An unused address that no web page can guess."""
    for ip in (f"127.{_byte()}.{_byte()}.{_byte()}", HOST):
        with socket.socket() as probe:
            try:
                probe.bind((ip, 0))
            except OSError:
                continue
            return HiddenAddress(ip, probe.getsockname()[1])
    raise OSError("no port of 127.0.0.1 is free")


def _byte() -> int:
    return 1 + secrets.randbelow(254)


def address_of(temporal: RunningProcess) -> HiddenAddress | None:
    """The address of the UI that this server was started with; None if the server has ended."""
    try:
        words = psutil.Process(temporal.pid).cmdline()
        return HiddenAddress(
            words[words.index("--ui-ip") + 1], int(words[words.index("--ui-port") + 1])
        )
    except (psutil.Error, ValueError, IndexError):
        return None


def is_guarding(temporal: RunningProcess, port: int) -> bool:
    """True if a guard of this server listens at the port."""
    return any(detached_processes.listens_on(guard, port) for guard in guards_of(temporal))


def start_guard(home: Path, temporal: RunningProcess, port: int) -> bool:
    """Start the guard of this server at the port, in place of any other; True if it listens.

    Jobs do not need the UI, so a guard that does not start is no error; `holdfast doctor` names it.
    """
    stop_guards(guards_of(temporal))
    address = address_of(temporal)
    if address is None:
        return False
    guard = detached_processes.start_detached(
        [
            *(sys.executable, "-P", "-m", _MODULE, "--temporal", str(temporal.pid)),
            *("--ui-ip", address.ip, "--ui-port", str(address.port), "--port", str(port)),
            *("--home", str(home)),
        ],
        log=home / "logs" / "temporal-ui.log",
        # No secret of the user's environment is needed here.
        env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
    )
    deadline = time.monotonic() + _START_TIMEOUT_S
    while detached_processes.is_alive(guard) and time.monotonic() < deadline:
        assert guard is not None
        if detached_processes.listens_on(guard, port):
            return True
        time.sleep(_POLL_INTERVAL_S)
    return False


def guards_of(temporal: RunningProcess) -> list[RunningProcess]:
    """The guards of this server, normally one."""
    return detached_processes.find_by_arguments(_MODULE, "--temporal", str(temporal.pid))


def guards_below(parent: int) -> frozenset[int]:
    """Return the pids of the guards among the children of `parent`, which may have ended."""
    try:
        children = psutil.Process(parent).children()
    except psutil.Error:
        return frozenset()
    found = set()
    for child in children:
        with suppress(psutil.Error):
            if _MODULE in child.cmdline():
                found.add(child.pid)
    return frozenset(found)


def stop_guards(guards: list[RunningProcess]) -> None:
    """Stop the guards of a server that has ended; most have noticed its end by themselves."""
    for guard in guards:
        detached_processes.terminate_process(guard, _STOP_SIGNALS)
