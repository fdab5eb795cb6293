"""Run the HTTP service in a thread with real sockets, and read it as a client."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import httpx2
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from holdfast.api.access.installation_token import make_token
from holdfast.api.event_feed import EventFeed
from holdfast.api.http_server import (
    ApiServer,
    Certificate,
    address_of,
    build_server,
    listening_socket,
)
from holdfast.client import Holdfast, open_client
from holdfast.mcp_server.http_endpoint import add_mcp
from holdfast.storage.core.owner_role import prepare_owner_role
from holdfast.web.page_routes import add_page

_LOOK_EVERY = timedelta(milliseconds=50)
_WITHIN_S = 60
"""A machine that is busy with other tests took more than 10 s to start a server."""


def give_owner_role(database_url: str) -> None:
    """Make the role of owners, which a copy of a migrated database lacks, if the database is there."""
    engine = create_engine(database_url)
    with suppress(DBAPIError), engine.begin() as connection:
        prepare_owner_role(connection)
    engine.dispose()


@dataclass
class HttpService:
    """A server over this installation, which PostgreSQL lets write nothing unless `writes`."""

    holdfast: Holdfast
    writes: bool = False
    reads_within: timedelta = timedelta(seconds=60)
    port: int = 0
    """0: a free one."""
    certificate: Certificate | None = None
    root_path: str | None = None
    _server: ApiServer = field(init=False)
    _thread: threading.Thread = field(init=False)
    following: EventFeed = field(init=False)

    def __enter__(self) -> Self:
        self._start(self.port)
        return self

    def restart(self) -> None:
        """End the server, and start another at the same address."""
        port = self._listening.getsockname()[1]
        self._stop()
        self._start(port)

    def _start(self, port: int) -> None:
        give_owner_role(self.holdfast.endpoints.database_url)
        self._listening = listening_socket("127.0.0.1", port)
        self.url = address_of(self._listening, is_encrypted=self.certificate is not None)
        is_there = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(is_there)))
        self._thread.start()
        assert is_there.wait(_WITHIN_S)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(_WITHIN_S)
        assert not self._thread.is_alive()
        self._listening.close()

    async def _serve(self, is_there: threading.Event) -> None:
        known = self.holdfast.endpoints
        reads_only = "&options=-c%20default_transaction_read_only%3Don"
        url = known.database_url + ("" if self.writes else reads_only)
        endpoints = known.model_copy(update={"database_url": url})
        async with open_client(self.holdfast.settings, endpoints) as holdfast:
            self._server, self.following = build_server(
                holdfast,
                self._listening,
                look_every=_LOOK_EVERY,
                reads_within=self.reads_within,
                faces=(add_page, add_mcp),
                certificate=self.certificate,
                root_path=self.root_path,
            )
            is_there.set()
            await self._server.serve(sockets=[self._listening])

    @property
    def token(self) -> str:
        return make_token(self.holdfast.settings.home)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        async with self.client() as client:
            return await client.get(path, headers=headers)

    def client(self) -> httpx2.AsyncClient:
        """A client that has the installation's token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        base_url = f"{self.url}/v1"
        return httpx2.AsyncClient(base_url=base_url, headers=headers, trust_env=False, timeout=30)

    @asynccontextmanager
    async def events(
        self, job_id: str, *, last: str | None = None, query: str = ""
    ) -> AsyncIterator[AsyncIterator["ReceivedEvent"]]:
        """The events of a job, for as long as the connection is held."""
        headers = {} if last is None else {"Last-Event-ID": last}
        path = f"/jobs/{job_id}/events{query}"
        async with self.client() as client, client.stream("GET", path, headers=headers) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield _received(answer)

    async def all_events(self, job_id: str, **which: str) -> list["ReceivedEvent"]:
        """The events up to where the server ends the stream."""
        async with self.events(job_id, **which) as received:
            return [each async for each in received]


@dataclass(frozen=True)
class ReceivedEvent:
    """One event as a browser understands it."""

    id: str
    event: str
    data: dict[str, Any]


async def _received(answer: httpx2.Response) -> AsyncIterator[ReceivedEvent]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            assert name not in fields, "each of our events has its data on one line"
            fields[name] = value
        elif fields:
            yield ReceivedEvent(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            fields = {}
