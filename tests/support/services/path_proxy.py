"""A reverse proxy over real sockets that serves another server below a path of its own."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_PIECE_BYTES = 65_536


@dataclass
class PathProxy:
    """Passes requests below `path` on, without the path if `strips`; everything else gets 404."""

    target: str
    path: str
    strips: bool
    outside: list[str] = field(default_factory=list)
    """The paths that were asked for outside of `path`."""
    origin: str = field(init=False)
    _server: asyncio.Server = field(init=False)
    _passing: set[asyncio.Task[None]] = field(default_factory=set)
    _connections: list[asyncio.StreamWriter] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.origin = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)
        # A socket that is still open when its loop ends is a warning in some later test.
        for each in self._connections:
            each.transport.abort()
        await asyncio.gather(
            *(each.wait_closed() for each in self._connections), return_exceptions=True
        )

    @property
    def url(self) -> str:
        return f"{self.origin}{self.path}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.append(writer)
        task = asyncio.create_task(self._pass_on(reader, writer))
        self._passing.add(task)
        task.add_done_callback(self._passing.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            line, _, headers = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
            method, path, version = line.decode().split(" ")
            if path != self.path and not path.startswith((f"{self.path}/", f"{self.path}?")):
                self.outside.append(path)
                writer.write(_MISSING)
            else:
                if self.strips:
                    path = path[len(self.path) :] or "/"
                # One request for each connection, so that the rest may be copied unread.
                headers = re.sub(rb"(?im)^connection:.*\r\n", b"", headers)
                head = f"{method} {path} {version}\r\nConnection: close\r\n".encode() + headers
                await self._exchange(head, reader, writer)
        writer.close()

    async def _exchange(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        target = urlsplit(self.target)
        upstream, sending = await asyncio.open_connection(target.hostname, target.port)
        self._connections.append(sending)
        sending.write(head)
        body = asyncio.create_task(_copy(reader, sending))
        try:
            await _copy(upstream, writer)
        finally:
            body.cancel()
            sending.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE_BYTES):
            if writer.is_closing():
                return
            writer.write(piece)
            await writer.drain()
