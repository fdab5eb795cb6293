"""Tests for searches whose passages a reranking model orders, over HTTP."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.configuration.rerank_settings import open_reranker, read_rerank
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.errors import BadConfiguration
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import CorpusRetrieval, RetrievalResult
from tests.support.endpoints.hosted_app import HostedApp

pytestmark = pytest.mark.slow

_TEXTS = ("The lamp, the lamp, the lamp.", "A lamp of brass.", "The oil of a lamp and more words.")


class _ByLength(HostedApp):
    """Orders texts by their length, in Cohere's form at /v2 and in TEI's at the root."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.status = 200
        self.left_out = 0
        routes = [
            Route("/v2/rerank", self._cohere, methods=["POST"]),
            Route("/rerank", self._tei, methods=["POST"]),
        ]
        super().__init__(Starlette(routes=routes))

    async def _cohere(self, request: Request) -> Response:
        body = await self._noted(request)
        scores = [
            {"index": place, "relevance_score": len(text)}
            for place, text in enumerate(body["documents"])
        ]
        return JSONResponse({"results": scores[self.left_out :]}, self.status)

    async def _tei(self, request: Request) -> Response:
        body = await self._noted(request)
        scores = [{"index": place, "score": len(text)} for place, text in enumerate(body["texts"])]
        return JSONResponse(scores, self.status)

    async def _noted(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = await request.json()
        self.asked.append(body)
        self.keys.add(request.headers["authorization"])
        return body


@pytest.fixture
def endpoint() -> Iterator[_ByLength]:
    with _ByLength() as hosted:
        yield hosted


@pytest.fixture
async def corpus(database_url: str) -> AsyncIterator[CorpusStore]:
    database = Database(database_url)
    async with CorpusStore(database).writing("c") as writer:
        for place, said in enumerate(_TEXTS):
            whole = [("", 0, len(said))]
            await writer.put(NewDocument(str(place), "title", said, "x", len(said), whole))
    yield CorpusStore(database)
    await database.close()


def _file(tmp_path: Path, lines: str) -> Path:
    path = tmp_path / "holdfast.toml"
    path.write_text(f"[rerank]\n{lines}\n")
    return path


async def _found(corpus: CorpusStore, file: Path) -> RetrievalResult:
    async with open_reranker(file) as reranker:
        return await CorpusRetrieval(corpus, None, reranker).find(
            "c", "lamp", 2, mode=None, where={}
        )


@pytest.mark.parametrize(("form", "under"), [("cohere", "/v2"), ("tei", "")])
async def test_the_model_orders_more_passages_than_are_given(
    corpus: CorpusStore,
    endpoint: _ByLength,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    under: str,
) -> None:
    monkeypatch.setenv("RERANK_KEY", "a key")
    url = endpoint.address + under
    lines = f'model = "m"\nurl = "{url}"\nform = "{form}"\nkey_env = "RERANK_KEY"'

    found = await _found(corpus, _file(tmp_path, lines))
    endpoint.status = 500
    failed = await _found(corpus, _file(tmp_path, lines))
    plain = await CorpusRetrieval(corpus).find("c", "lamp", 2, mode=None, where={})

    assert [passage.text for passage, _ in found.hits] == [_TEXTS[2], _TEXTS[0]]
    assert (found.mode, found.note) == (SearchMode.KEYWORD, "")
    assert len(endpoint.asked[0]["documents" if form == "cohere" else "texts"]) == 3
    assert endpoint.keys == {"Bearer a key"}
    assert failed.hits == plain.hits
    assert failed.note.startswith("in the order of the search: reranking ")
    assert "a key" not in failed.note


async def test_an_answer_without_a_score_for_each_passage_is_refused(
    corpus: CorpusStore, endpoint: _ByLength, tmp_path: Path
) -> None:
    endpoint.left_out = 1

    found = await _found(corpus, _file(tmp_path, f'model = "m"\nurl = "{endpoint.address}/v2"'))

    assert len(found.hits) == 2
    assert "did not answer with a score for each of 3 texts" in found.note


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('model = "m"', "rerank.url: Field required; write for example url = "),
        ('model = "m"\nurl = "http://h"\nform = "jina"', "rerank.form: .*write for example form"),
        ('model = "m"\nurl = "http://h"\ncandidates = 900', "rerank.candidates: "),
    ],
)
def test_a_mistake_in_the_table_is_named(tmp_path: Path, lines: str, reason: str) -> None:
    with pytest.raises(BadConfiguration, match=reason):
        read_rerank(_file(tmp_path, lines))
