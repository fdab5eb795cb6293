"""Pass permitted requests on to the Temporal UI: `python -m holdfast.temporal_ui.guard_server`.

The UI answers requests with any Host, so a web page whose name changes its address (DNS rebinding)
could read the histories. This server has the known port; the UI has an address that no page knows.
It imports little, because it is a process of its own, and ends when Temporal ends.
"""

import argparse
import asyncio
import os
import signal
from contextlib import suppress

from holdfast.temporal_ui.message_head import MalformedHead, MessageHead, parse_head
from holdfast.temporal_ui.request_rules import body_size, refusal
from holdfast.temporal_ui.start_page import START_PAGE, START_PAGE_POLICY

HOST = "127.0.0.1"
_MAX_HEAD_BYTES = 64 * 1024
_MAX_CONNECTIONS = 200
_HEAD_TIMEOUT_S = 10.0
_BODY_TIMEOUT_S = 60.0
_POLL_INTERVAL_S = 1.0
_PIECE_BYTES = 64 * 1024

_PER_CONNECTION = ("connection", "keep-alive", "upgrade", "proxy-connection", "expect")
_RESPONSE_FIELDS = (
    ("connection", "close"),
    ("x-frame-options", "DENY"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("referrer-policy", "same-origin"),
)
_REPLACED_FIELDS = (
    *_PER_CONNECTION,
    *(name for name, _ in _RESPONSE_FIELDS),
    "access-control-allow-origin",
    "access-control-allow-credentials",
)


class UiGuard:
    """A reverse proxy in front of the UI at `ui`, which checks every request."""

    def __init__(self, ui: tuple[str, int], port: int) -> None:
        self._ui = ui
        self._port = port
        self._open = 0

    async def serve(self) -> asyncio.Server:
        """Listen at the known port; the caller closes the server."""
        return await asyncio.start_server(
            self._connection, HOST, self._port, limit=_MAX_HEAD_BYTES, reuse_address=True
        )

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; a connection is not used again."""
        self._open += 1
        try:
            if self._open > _MAX_CONNECTIONS:
                return await _answer(writer, "503 Service Unavailable", "too many connections")
            await self._request(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the browser or the UI has left
        finally:
            self._open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEAD_TIMEOUT_S):
                request = parse_head(await reader.readuntil(b"\r\n\r\n"))
        except (MalformedHead, asyncio.LimitOverrunError):
            return await _answer(writer, "400 Bad Request", "not a request of HTTP/1.1")
        if why := refusal(request, self._port):
            return await _answer(writer, "403 Forbidden", why)
        try:
            ui_reader, ui_writer = await asyncio.open_connection(*self._ui, limit=_MAX_HEAD_BYTES)
        except OSError:
            return await _answer(writer, "502 Bad Gateway", "the Temporal UI does not answer")
        try:
            if request.first_line == "GET / HTTP/1.1":
                return await _answer_with_start_page(writer)
            passed = request.without(_PER_CONNECTION).with_fields([("connection", "close")])
            ui_writer.write(passed.to_bytes())
            await _send_body(reader, ui_writer, body_size(request) or 0)
            await _send_response(ui_reader, writer)
        finally:
            ui_writer.close()


async def _send_body(
    reader: asyncio.StreamReader, ui_writer: asyncio.StreamWriter, left: int
) -> None:
    async with asyncio.timeout(_BODY_TIMEOUT_S):
        while left:
            piece = await reader.read(min(left, _PIECE_BYTES))
            if not piece:
                raise asyncio.IncompleteReadError(b"", left)
            left -= len(piece)
            ui_writer.write(piece)
            await ui_writer.drain()


async def _send_response(ui_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        response = parse_head(await ui_reader.readuntil(b"\r\n\r\n"))
    except (MalformedHead, asyncio.LimitOverrunError):
        await _answer(writer, "502 Bad Gateway", "the Temporal UI gave no HTTP answer")
        return
    writer.write(response.without(_REPLACED_FIELDS).with_fields(_RESPONSE_FIELDS).to_bytes())
    while piece := await ui_reader.read(_PIECE_BYTES):
        writer.write(piece)
        await writer.drain()


async def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    fields = [("content-type", "text/plain; charset=utf-8")]
    await _write(writer, status, fields, f"{text}\n")


async def _answer_with_start_page(writer: asyncio.StreamWriter) -> None:
    fields = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", START_PAGE_POLICY),
        ("cache-control", "no-store"),
    ]
    await _write(writer, "200 OK", fields, START_PAGE)


async def _write(
    writer: asyncio.StreamWriter, status: str, fields: list[tuple[str, str]], text: str
) -> None:
    body = text.encode()
    size = ("content-length", str(len(body)))
    head = MessageHead(f"HTTP/1.1 {status}", (*fields, size, *_RESPONSE_FIELDS))
    writer.write(head.to_bytes() + body)
    await writer.drain()


async def _wait_for_end(pid: int, stop: asyncio.Event) -> None:
    """Wait until the process ends or the guard is asked to stop."""
    loop = asyncio.get_running_loop()
    if hasattr(os, "pidfd_open"):
        with suppress(ProcessLookupError):
            loop.add_reader(os.pidfd_open(pid), stop.set)
            await stop.wait()
        return
    with suppress(ProcessLookupError):
        while not stop.is_set():
            os.kill(pid, 0)
            await asyncio.sleep(_POLL_INTERVAL_S)


async def _run(ui: tuple[str, int], port: int, temporal_pid: int) -> None:
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    server = await UiGuard(ui, port).serve()
    await _wait_for_end(temporal_pid, stop)
    server.close()


def main() -> None:
    """Serve until Temporal ends or SIGTERM comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--temporal", type=int, required=True, help="the process of the server")
    parser.add_argument("--ui-ip", required=True, help="the address of the UI itself")
    parser.add_argument("--ui-port", type=int, required=True)
    parser.add_argument("--port", type=int, required=True, help="the port that users know")
    parser.add_argument("--home", required=True, help="the home folder, to find the process by")
    given = parser.parse_args()
    asyncio.run(_run((given.ui_ip, given.ui_port), given.port, given.temporal))


if __name__ == "__main__":
    main()
