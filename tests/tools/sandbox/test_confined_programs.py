"""Tests that a program that parses foreign bytes reaches nothing in its sandbox."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from holdfast.models.errors import BadInput
from holdfast.tools.documents.document_processes import DocumentProcesses
from holdfast.tools.sandbox import process_pool
from holdfast.tools.sandbox.process_pool import ProcessPool
from holdfast.tools.sandbox.sandbox_support import SandboxSupport
from holdfast.tools.sandbox.syscall_filter import has_syscall_filter
from holdfast.tools.tables import query_engine
from holdfast.tools.tables.query_engine import QueryEngine
from holdfast.tools.tables.table_folder import TableFolder
from holdfast.tools.web.content_types import BodyKind
from holdfast.tools.web.reader_pool import ReaderPool
from tests.support.tools.sandbox_spy import processes_in, run_spy, spy_program

SECRET = "walnut-drawer-seventeen"
filtered = pytest.mark.skipif(not has_syscall_filter(), reason="no filter for this processor")

REFUSED = {
    "a file": "open('/etc/passwd').read()",
    "the worker's process": f"open('/proc/{os.getpid()}/environ')",
    "a file of the user": f"open({str(Path.home())!r} + '/.bashrc').read()",
    "this checkout": f"open({str(Path('pyproject.toml').absolute())!r}).read()",
    "writing to its own code": "open(os.path.dirname(os.__file__) + '/planted.py', 'w')",
    "writing at the root": "open('/planted', 'w')",
    "the network": "socket.create_connection(('127.0.0.1', int(PORT)), 2)",
    "a socket of the machine": "socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')",
    "a namespace of its own": "libc.unshare(0x10000000) and fail()",
    "memory of another process": "libc.ptrace(16, os.getppid(), 0, 0) and fail()",
    "a key of the kernel": "libc.syscall(250, 0, -3, 0) == -1 and fail()",
}
ONE_PROCESS = {
    "a fork": "os.fork()",
    "a program": "import subprocess\nsubprocess.run(['/usr/bin/true'])",
    "a child by clone3": "libc.syscall(435, bytes(88), 88) >= 0 or fail()",
    "hidden memory": "os.memfd_create('x')",
    "shared memory of the kernel": "libc.shmget(0, 4096, 0o1600) == -1 and fail()",
    "more of /tmp than it has": "open('/tmp/x', 'wb').write(bytes(32 * 2**20))",
}
_START = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def fail(): raise OSError(ctypes.get_errno(), 'refused')
PORT = {port!r}
try:
    exec({code!r})
except OSError as error:
    print('refused', error.errno)
else:
    print('reached')
"""


@pytest.mark.conformance("SAF-08")
@pytest.mark.parametrize("what", REFUSED)
async def test_a_parser_reaches_nothing_of_the_machine(what: str, bubblewrap: str) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    code = _START.format(code=REFUSED[what], port=port)

    ran = await run_spy(bubblewrap, code)

    server.close()
    assert ran.output.startswith(b"refused"), ran


@filtered
@pytest.mark.conformance("SAF-08")
@pytest.mark.parametrize("what", ONE_PROCESS)
async def test_a_parser_stays_one_process_and_takes_no_uncounted_memory(
    what: str, bubblewrap: str
) -> None:
    """As root too, whose processes the kernel does not count."""
    ran = await run_spy(bubblewrap, _START.format(code=ONE_PROCESS[what], port=0))

    assert ran.output.startswith(b"refused"), ran


async def test_a_parser_may_use_threads_and_its_own_tmp(bubblewrap: str) -> None:
    code = (
        "import os, threading\n"
        "def write(): open('/tmp/a', 'w').write('kept')\n"
        "thread = threading.Thread(target=write); thread.start(); thread.join()\n"
        "print(open('/tmp/a').read(), os.getuid(), sorted(os.environ))"
    )

    ran = await run_spy(bubblewrap, code)

    assert ran.output.split(maxsplit=2)[:2] == [b"kept", b"65534"], ran
    assert SECRET not in str(ran.output)


@pytest.mark.conformance("SAF-08")
async def test_readers_of_pages_and_documents_are_in_the_sandbox(
    bubblewrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with ReaderPool() as pages, DocumentProcesses() as documents:
        page = await pages.read(BodyKind.TEXT, "http://a.test/", "", b"text")
        document = await documents.read("a.html", b"<h1>Lamp</h1><p>It burns oil.</p>")

        assert (page.text, document.title) == ("text", "Lamp")
        for pool in (pages, documents):
            reader = processes_in(pool._idle[0].pid)[-1]
            assert _has_own_namespaces(reader)
            assert SECRET.encode() not in _environ(reader)


def _has_own_namespaces(pid: int) -> bool:
    names = ("net", "mnt", "pid", "user", "ipc")
    return all(
        Path(f"/proc/{pid}/ns/{n}").readlink() != Path(f"/proc/self/ns/{n}").readlink()
        for n in names
    )


def _environ(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.conformance("SAF-08")
async def test_duckdb_sees_the_files_of_its_query_alone_and_writes_none(
    bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("asked.csv", "other.csv"):
        (tmp_path / name).write_text("a\n1\n")
    code = (
        "import json, os, sys\n"
        "def tried(mode, name):\n"
        f"    try: open(os.path.join({str(tmp_path)!r}, name), mode); return 'reached'\n"
        "    except OSError: return 'refused'\n"
        "print(json.dumps({'columns': ['seen'], 'rows': [[tried('r', 'asked.csv')],"
        " [tried('a', 'asked.csv')], [tried('r', 'other.csv')]], 'is_cut': False}))"
    )
    monkeypatch.setattr(query_engine, "own_program", lambda _: spy_program(code))

    rows = (await QueryEngine(TableFolder(tmp_path)).query("select a from asked", {}, 9)).rows

    assert rows == (("reached",), ("refused",), ("refused",))


@pytest.mark.conformance("SAF-08")
async def test_processes_wait_for_a_slot_of_the_worker() -> None:
    slots = asyncio.Semaphore(1)
    await slots.acquire()
    async with ReaderPool(slots=slots) as readers:
        reading = asyncio.create_task(readers.read(BodyKind.TEXT, "http://a.test/", "", b"text"))
        while not slots._waiters:
            await asyncio.sleep(0)

        assert not readers._idle
        assert not reading.done()
        slots.release()
        assert (await reading).text == "text"
        assert not slots.locked()


_GREEDY = """
from holdfast.tools.sandbox.answering_loop import answer_requests
kept = []
def answer(request, body):
    try:
        kept.append(bytearray(int(body)))
    except MemoryError:
        return {"took": "none"}
    kept.clear()
    return {"took": body.decode()}
answer_requests(answer)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc and RLIMIT_AS are of Linux")
@pytest.mark.conformance("SAF-08")
async def test_a_process_takes_bounded_memory_and_a_large_one_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = spy_program(f"import sys; sys.path[:] = {sys.path!r}\n{_GREEDY}")
    monkeypatch.setattr(process_pool, "own_program", lambda _: program)
    async with ProcessPool("greedy", patience_s=60) as pool:
        small = await pool.ask({}, b"1000")
        first = pool._idle[0].pid
        too_much = await pool.ask({}, b"%d" % (3 * 2**30))
        assert pool._idle[0].pid == first
        large = await pool.ask({}, b"%d" % (600 * 2**20))

        assert (small["took"], too_much["took"]) == ("1000", "none")
        assert large["took"] == str(600 * 2**20)
        assert not pool._idle, "a process that became large keeps its memory"


async def test_a_sandbox_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that succeeded does not promise that every later start succeeds."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "t.csv").write_text("a\n1\n")

    async def find() -> SandboxSupport:
        return SandboxSupport(str(program))

    monkeypatch.setattr(query_engine, "find_sandbox", find)
    with pytest.raises(BadInput, match="its sandbox did not start: bwrap: Creating new"):
        await QueryEngine(TableFolder(tmp_path)).query("select a from t", {}, 1)
