"""OpenAI-compatible `/v1/embeddings` endpoint whose vectors are hashed words."""

import json
import math
import re
import threading
import zlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.endpoints.hosted_app import HostedApp

_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "to",
        "was",
        "what",
    ]
)


@dataclass(frozen=True)
class EmbeddingsRefusal:
    """An answer that is no vector; `raw` is sent as it is."""

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "refused as scripted"
    raw: bytes | None = None


def hashed_vector(text: str, dimension: int) -> list[float]:
    """Each word and its beginning add to a place that their hash names; of length 1.

    Texts that share words, or words of one stem, are near; nothing else is meant by it.
    """
    vector = [0.0] * dimension
    for word in _WORD.findall(text.lower()):
        if word not in _COMMON:
            for feature, weight in ((word, 1.0), (f"{word[:4]}-", 0.5)):
                code = zlib.crc32(feature.encode())
                vector[code % dimension] += weight if code & 2**31 else -weight
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [round(value / length, 5) for value in vector]


class HashingEmbeddings(HostedApp):
    """Answers refusals from the queue first; counts the texts that it embedded.

    with HashingEmbeddings() as endpoint:
        endpoint.push(Refusal(429, {"retry-after": "0"}))
        ... endpoint.url ...
    """

    def __init__(self, dimension: int = 64, *, longest: int = 100_000) -> None:
        self.dimension = dimension
        self.longest = longest
        self.asked: list[dict[str, Any]] = []
        self.embedded: list[str] = []
        self.keys: set[str] = set()
        self._queue: deque[EmbeddingsRefusal | None] = deque()
        self._lock = threading.Condition()
        app = Starlette(routes=[Route("/v1/embeddings", self._embed, methods=["POST"])])
        super().__init__(app)

    @property
    def url(self) -> str:
        """The base url, with /v1."""
        return f"{self.address}/v1"

    def push(self, *replies: EmbeddingsRefusal | None) -> None:
        """Queues refusals, each given once; None answers with vectors as usual."""
        with self._lock:
            self._queue.extend(replies)

    def wait_for_refusals(self, *, within: float = 60.0) -> None:
        """Returns once every queued refusal was given.

        Raises:
            TimeoutError: they were not.
        """
        with self._lock:
            if not self._lock.wait_for(lambda: not self._queue, within):
                raise TimeoutError(f"{len(self._queue)} refusals were not asked for in {within} s")

    async def _embed(self, request: Request) -> Response:
        body = await request.json()
        with self._lock:
            self.asked.append(body)
            self.keys.add(request.headers.get("authorization", ""))
            refusal = self._queue.popleft() if self._queue else None
            self._lock.notify_all()
        if refusal is not None:
            return _refused(refusal)
        texts = body["input"]
        if max(map(len, texts)) > self.longest:
            return _refused(EmbeddingsRefusal(400, message="maximum context length exceeded"))
        self.embedded += texts
        return _answer([hashed_vector(text, self.dimension) for text in texts], body["model"])


def _answer(vectors: list[list[float]], model: str) -> Response:
    data = [
        {"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    # Backwards: an index says where a vector belongs, not its place in the list.
    return JSONResponse({"object": "list", "data": data[::-1], "model": model, "usage": usage})


def _refused(refusal: EmbeddingsRefusal) -> Response:
    content = refusal.raw or json.dumps({"error": {"message": refusal.message}}).encode()
    return Response(
        content, refusal.status, headers=dict(refusal.headers), media_type="application/json"
    )
