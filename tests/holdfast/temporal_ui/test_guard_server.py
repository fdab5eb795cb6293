"""Tests for the guard in front of a server of the test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from holdfast.temporal_ui.guard_server import UiGuard

Ask = Callable[..., Awaitable[bytes]]


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with the request itself."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(5) if b"content-length: 5" in head else b""
    writer.write(b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nSet-Cookie: a=1\r\n\r\n")
    writer.write(head + body)
    await writer.drain()
    writer.close()


@pytest.fixture
async def ask() -> AsyncIterator[Ask]:
    """Send a request to a guard, with PORT for its port, and return the response."""
    ui = await asyncio.start_server(_echo, "127.0.0.1", 0)
    probe = await asyncio.start_server(_echo, "127.0.0.1", 0)
    port = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()
    guard = await UiGuard(ui.sockets[0].getsockname(), port).serve()

    async def ask(request: str, *, stop_ui: bool = False) -> bytes:
        if stop_ui:
            ui.close()
            await ui.wait_closed()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.replace("PORT", str(port)).encode())
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    yield ask
    guard.close()
    ui.close()


async def test_a_permitted_request_reaches_the_ui_whole(ask: Ask) -> None:
    answer = await ask(
        "POST /api/x HTTP/1.1\r\nHost: localhost:PORT\r\nCookie: _csrf=1\r\n"
        "Connection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"
    )

    head, _, echoed = answer.partition(b"\r\n\r\n")
    assert echoed.startswith(b"POST /api/x HTTP/1.1\r\nhost: localhost:")
    assert b"cookie: _csrf=1" in echoed
    assert b"connection: close" in echoed
    assert echoed.endswith(b"\r\n\r\nhello")
    assert b"set-cookie: a=1" in head
    assert b"x-frame-options: DENY" in head
    assert b"access-control" not in head


async def test_a_refused_request_does_not_reach_the_ui(ask: Ask) -> None:
    answer = await ask("GET /api/x HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"evil" not in answer


async def test_the_start_page_gives_the_list_its_column(ask: Ask) -> None:
    answer = await ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HoldfastQuestion" in answer
    assert b"frame-ancestors 'none'" in answer


async def test_a_request_that_is_none_and_a_ui_that_is_gone_get_an_answer(ask: Ask) -> None:
    assert (await ask("\x00\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
    assert (await ask("GET /" + "x" * 70_000 + "\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
    gone = await ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", stop_ui=True)
    assert gone.startswith(b"HTTP/1.1 502 ")
