"""Web server on 127.0.0.1 that answers exactly the bytes that a test scripts."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class SiteRequest:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class SiteAnswer:
    """A well-formed answer."""

    body: bytes | str = b""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)


RawAnswer = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer by hand, as no honest server would."""
SitePage = str | SiteAnswer | RawAnswer | Callable[[SiteRequest], SiteAnswer]


def redirect(to: str, status: int = 302) -> SiteAnswer:
    return SiteAnswer(status=status, headers={"Location": to})


@dataclass
class ScriptedSite:
    """Pages by path (with the query, or without); all else is 404, robots.txt too."""

    pages: dict[str, SitePage] = field(default_factory=dict)
    seen: list[SiteRequest] = field(default_factory=list)
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)
    tls: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http{'s' if self.tls else ''}://{self.host}{path}"

    def asked_for(self, path: str) -> int:
        """How often this path was asked for."""
        return sum(each.path == path for each in self.seen)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._answer(await _read(reader), writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side had enough, or the test is over
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _answer(self, seen: SiteRequest, writer: asyncio.StreamWriter) -> None:
        self.seen.append(seen)
        page = self.pages.get(seen.path, self.pages.get(seen.path.partition("?")[0]))
        if page is None:
            page = SiteAnswer("not here", 404)
        if callable(page):
            made = page(seen) if _takes_request(page) else await page(writer)  # type: ignore[call-arg, misc, arg-type]
            if made is None:
                return
            page = made
        if isinstance(page, str):
            page = SiteAnswer(page)
        writer.write(answer_bytes(page))


def _takes_request(page: Callable[..., object]) -> bool:
    return not asyncio.iscoroutinefunction(page)


async def _read(reader: asyncio.StreamReader) -> SiteRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return SiteRequest(method, path, headers, body)


def answer_bytes(answer: SiteAnswer) -> bytes:
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    headers = {
        "Content-Type": answer.type,
        "Content-Length": str(len(body)),
        "Connection": "close",
        **answer.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    return f"HTTP/1.1 {answer.status} Said\r\n{lines}\r\n".encode("latin-1") + body


def endless_drip(every_s: float = 0.05) -> RawAnswer:
    """One letter after the other, and never an end."""

    async def said(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(every_s)

    return said


async def endless_body(writer: asyncio.StreamWriter) -> None:
    """As much as the other side takes."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"all work and no play " * 3000)
        await writer.drain()


async def header_flood(writer: asyncio.StreamWriter) -> None:
    """Headers without end."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while True:
        number += 1
        writer.write(b"X-Flood-%d: %s\r\n" % (number, b"x" * 1000))
        await writer.drain()


async def endless_hints(writer: asyncio.StreamWriter) -> None:
    """The same provisional answer for ever."""
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


async def no_answer(writer: asyncio.StreamWriter) -> None:
    """Takes the connection and says nothing."""
    await asyncio.sleep(3600)


async def non_http_answer(writer: asyncio.StreamWriter) -> None:
    """No HTTP at all."""
    writer.write(b"220 mail.example ESMTP\r\n\r\n" * 50)
