"""Serve the contestants: the model, metered by run, and the one search over the documents.

A run is named by the model's name in its requests, `CONTESTANT/QUESTION`; the endpoint behind gets
the real name. So every program that takes a base URL and a model can be measured.
"""

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.evals.peers.exchange_records import Exchange, ExchangeRecords, Json
from holdfast.evals.peers.shared_search import SharedSearch

_TIMEOUT_S = 1_800.0
"""Of one call: a model that is played by a person is slow."""


@dataclass(frozen=True)
class ModelEndpoint:
    """The OpenAI-compatible endpoint behind."""

    base_url: str
    model: str
    api_key: SecretStr | None = None


@dataclass
class MeteredEndpoint:
    """The endpoint and the search as contestants see them."""

    behind: ModelEndpoint
    search: SharedSearch
    folder: Path
    """Where the exchanges of each run are kept."""
    _records: dict[str, ExchangeRecords] = field(default_factory=dict)
    _client: httpx2.AsyncClient | None = None

    def records(self, run: str) -> ExchangeRecords:
        """The exchanges of a run."""
        return self._records.setdefault(run, ExchangeRecords(self.folder / run))

    @property
    def app(self) -> Starlette:
        """The application: `/v1/chat/completions`, `/v1/models` and `/search`."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/search", self._search, methods=["POST"]),
            ],
            lifespan=self._connected,
        )

    @asynccontextmanager
    async def _connected(self, app: Starlette) -> AsyncIterator[None]:  # noqa: ARG002 - Starlette's
        async with httpx2.AsyncClient(timeout=_TIMEOUT_S) as client:
            self._client = client
            yield

    async def _models(self, request: Request) -> Response:  # noqa: ARG002 - Starlette's
        return JSONResponse({"object": "list", "data": [{"id": self.behind.model}]})

    async def _search(self, request: Request) -> Response:
        asked = await request.json()
        found = await self.search.find(asked["collection"], asked["query"], asked["limit"])
        return JSONResponse([each._asdict() for each in found])

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        run = str(body.get("model", ""))
        records = self.records(run)
        exchange = records.kept(body)
        if exchange is None:
            started = time.monotonic()
            sent = await self._forward(body)
            if sent.status_code != 200:
                return Response(sent.content, sent.status_code, media_type="application/json")
            exchange = Exchange(
                request=body, reply=sent.json(), seconds=round(time.monotonic() - started, 1)
            )
            records.add(exchange)
        reply = exchange.reply
        return _streamed(reply) if body.get("stream") else JSONResponse(dict(reply))

    async def _forward(self, body: Mapping[str, Any]) -> httpx2.Response:
        assert self._client is not None, "the application was started"
        key = self.behind.api_key.get_secret_value() if self.behind.api_key else "none"
        asked = {name: value for name, value in body.items() if not name.startswith("stream")}
        return await self._client.post(
            f"{self.behind.base_url.rstrip('/')}/chat/completions",
            json=asked | {"model": self.behind.model},
            headers={"Authorization": f"Bearer {key}"},
        )


def _streamed(reply: Json) -> Response:
    """The reply as a stream of one piece, for clients that ask for a stream."""
    choice = reply["choices"][0]
    delta = dict(choice["message"])
    if delta.get("tool_calls"):
        delta["tool_calls"] = [dict(call, index=n) for n, call in enumerate(delta["tool_calls"])]
    base = {**reply, "object": "chat.completion.chunk", "usage": None}
    pieces = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**base, "choices": [], "usage": reply.get("usage")},
    ]
    events = "".join(f"data: {json.dumps(each)}\n\n" for each in pieces)
    return Response(f"{events}data: [DONE]\n\n", media_type="text/event-stream")
