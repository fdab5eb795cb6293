"""Run `holdfast` commands in forks of one process that has imported them already.

What a command costs the tests is mostly its imports, a second of processor time for each of the many
hundred commands. A fork is a process like any other: it has words, variables, a folder, streams and
an exit code of its own, and ends by `os._exit` as the program does. What differs is the line that
others see of it in `/proc`; tests that look there, or at what is imported, start the program itself.
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Lock
from typing import IO, Any, NoReturn

from tests.support.services.bare_environment import bare_environment

_ROOT = Path(__file__).parents[3]
_STREAMS = 3
_DESCRIPTORS = 1 + _STREAMS + 1
"""A request's file, its three streams, and where its process id and exit code are written."""


_FORKS_WITHIN_S = 300
"""It imports all commands first, which takes long where much else runs."""
_ENDS_WITHIN_S = 60


class ForksGone(Exception):
    """The process whose forks run commands is gone; its errors are on standard error."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the process that forks commands is of no use: {why}")


class CommandForks:
    """The process whose forks run commands; it ends with this process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=_ROOT,
                # Forks put their own streams in the place of these.
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=bare_environment() | {"PYTHONUTF8": "1"},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self) -> None:
        self._socket.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def run(
        self,
        words: Sequence[str | bytes],
        stdin: bytes,
        folder: Path,
        environment: Mapping[str, str],
        within_s: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """What `python -m holdfast` with these words leaves behind.

        Raises:
            subprocess.TimeoutExpired: the command did not end in time; it was killed.
            ForksGone: the process that forks has ended, or forks no more.
        """
        request = {
            "words": [os.fsdecode(word) for word in words],
            "folder": str(folder),
            "environment": dict(environment),
        }
        with (
            _file(json.dumps(request).encode()) as asked,
            _file(stdin) as given,
            _file() as out,
            _file() as err,
        ):
            code = self._fork([asked, given, out, err], within_s)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(list(words), code, out.read(), err.read())

    def _fork(self, files: Sequence[IO[bytes]], within_s: float) -> int:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                descriptors = [*(file.fileno() for file in files), theirs.fileno()]
                try:
                    socket.send_fds(self._socket, [b"run"], descriptors)
                except OSError as error:
                    raise ForksGone("it takes no request") from error
            ours.settimeout(_FORKS_WITHIN_S)
            try:
                pid = _number_from(ours)
            except TimeoutError:
                raise ForksGone(f"it forked nothing in {_FORKS_WITHIN_S} s") from None
            ours.settimeout(within_s)
            try:
                return _number_from(ours)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired("holdfast", within_s) from None


def _number_from(answers: socket.socket) -> int:
    """The next number that the fork's keeper says."""
    said = answers.recv(32)
    if not said:
        raise ForksGone("it ended before it answered")
    return int(said)


_STARTING = Lock()


def command_forks() -> CommandForks:
    """The one of this process, started when it is first asked for."""
    with _STARTING:
        return _only()


@cache
def _only() -> CommandForks:
    forks = CommandForks()
    atexit.register(forks.end)
    return forks


@contextmanager
def _file(content: bytes = b"") -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def _serve(asking: socket.socket) -> None:
    """Fork for each request, until the process that asks is gone."""
    _import_commands()
    # Who keeps a command waits for it; nobody waits for who keeps it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(asking, 16, _DESCRIPTORS)
        if not message:
            return
        if os.fork() == 0:
            asking.close()
            _keep(descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _import_commands() -> None:
    """Import what commands import when they run, but not the API, which only `serve` needs."""
    from holdfast.cli import commands

    for module in walk_packages(commands.__path__, f"{commands.__name__}."):
        if not module.name.endswith(".api_commands"):
            import_module(module.name)


def _keep(descriptors: Sequence[int]) -> NoReturn:
    """Fork once more, say the fork's process id, wait for its end, and say its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with socket.socket(fileno=descriptors[-1]) as answers:
        pid = os.fork()
        if pid == 0:
            answers.close()
            _run(descriptors[:-1])
        for descriptor in descriptors[:-1]:
            os.close(descriptor)
        answers.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):  # who asked waits no longer
            answers.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(descriptors: Sequence[int]) -> NoReturn:
    """Become the command: what `python -m holdfast` finds, this finds as well."""
    asked, *streams = descriptors
    with os.fdopen(asked, "rb") as file:
        request: dict[str, Any] = json.load(file)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[0] = request["folder"]
    sys.argv = ["holdfast", *request["words"]]
    runpy.run_module("holdfast", run_name="__main__", alter_sys=True)
    os._exit(0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
