"""Start, find and stop the page's server of a home folder, which `up`, `demo` and `open` use.

The server is a process of its own. It writes its address to the home folder once it listens, so
other commands find it; a process that has died leaves a file that names no living process.
"""

import sys
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from holdfast.models.errors import ServiceDown
from holdfast.services import detached_processes
from holdfast.services.private_files import write_private_file
from holdfast.services.service_state import RunningProcess

MODULE = "holdfast.web.page_process"
_COMMAND = ("-P", "-m", MODULE)  # -P: a folder `holdfast` of the user must not hide ours
_FILE_NAME = "page_server.json"
_START_TIMEOUT_S = 60.0
_POLL_INTERVAL_S = 0.05
_LOOK_INTERVAL_S = 1.0
"""The time between two looks through the processes of the machine, each of which takes some ms."""
_STOP_SIGNALS = ((15, 8.0), (9, 30.0))
_LONGEST_START_S = 600.0
"""A server that has not listened for so long is replaced; a busy machine takes minutes."""


class PageServer(BaseModel):
    """A listening server of the page."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    process: RunningProcess
    url: str
    settings_mark: str
    """What the server was started with; a server with other settings is replaced."""

    @property
    def port(self) -> int | None:
        port = self.url.rpartition(":")[2]
        return int(port) if port.isdecimal() else None


def running_page_server(home: Path) -> PageServer | None:
    """The server of this home that listens now; None if there is none."""
    server = _recorded(home)
    return server if server and detached_processes.is_alive(server.process) else None


def last_port(home: Path) -> int | None:
    """The port of the last server, whose address a browser may have kept."""
    server = _recorded(home)
    return server.port if server else None


def record_page_server(home: Path, server: PageServer) -> None:
    """Let other commands find the server."""
    write_private_file(home / _FILE_NAME, server.model_dump_json())


def start_page_server(home: Path, settings_mark: str) -> None:
    """Start the server, unless one with these settings runs; it listens a little later."""
    running = running_page_server(home)
    if running is not None and running.settings_mark == settings_mark:
        return
    if _is_starting(home, settings_mark):
        return
    for process in page_servers(home):
        stop_page_server(home, process)
    command = [sys.executable, *_COMMAND, str(home), settings_mark]
    detached_processes.start_detached(command, log=_log(home))


def _is_starting(home: Path, settings_mark: str) -> bool:
    """True if a server with these settings has begun and does not listen yet."""
    server = _recorded(home)
    begun = detached_processes.find_by_arguments(*_COMMAND, str(home), settings_mark)
    return any(
        time.time() - process.created < _LONGEST_START_S
        for process in begun
        if server is None or process.pid != server.process.pid
    )


def await_page_server(home: Path, settings_mark: str) -> PageServer:
    """The server, once it listens.

    Raises:
        ServiceDown: the server has ended, and the message shows its log; or it is still starting.
    """
    now = looked = time.monotonic()
    given_up = now + _START_TIMEOUT_S
    while now < given_up:
        running = running_page_server(home)
        if running is not None and running.settings_mark == settings_mark:
            return running
        if now >= looked + _LOOK_INTERVAL_S:
            if not page_servers(home):
                lines = detached_processes.last_lines(_log(home))
                raise ServiceDown(
                    f"the page's server does not start; its log {_log(home)} ends:\n{lines}"
                )
            looked = now
        time.sleep(_POLL_INTERVAL_S)
        now = time.monotonic()
    raise ServiceDown(
        f"the page's server has not answered for {_START_TIMEOUT_S:g} s and is still starting; the "
        f"machine may be busy; look again with `holdfast open`; its log is {_log(home)}"
    )


def page_servers(home: Path) -> list[RunningProcess]:
    """Every server of the page that was started for this home."""
    return detached_processes.find_by_arguments(*_COMMAND, str(home))


def stop_page_server(home: Path, process: RunningProcess) -> None:
    """End a server; browsers go on with the next one.

    A server that does not end in time has no settings from now on, so the next start replaces it.
    """
    server = _recorded(home)
    if server is not None and server.process == process:
        record_page_server(home, server.model_copy(update={"settings_mark": ""}))
    detached_processes.terminate_process(process, _STOP_SIGNALS)


def _recorded(home: Path) -> PageServer | None:
    try:
        return PageServer.model_validate_json((home / _FILE_NAME).read_text())
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


def _log(home: Path) -> Path:
    return home / "logs" / "page.log"
