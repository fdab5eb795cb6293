"""The compared search systems: Holdfast's corpus, PostgreSQL full text search, and bm25s."""

import asyncio
import json
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import psycopg

from benchmarks.peers.peer_process import PEERS_MISSING, PEERS_PYTHON, ROOT
from benchmarks.setup.corpus_data import BenchmarkCollection, TitledText
from holdfast.corpus.passage_embedding import embed_collection
from holdfast.models.corpus.embeddings_config import EmbeddingsConfig
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.roles.endpoints.embedding_endpoint import Embedder, create_embedder
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import CorpusRetrieval
from tests.support.endpoints.embeddings_endpoint import HashingEmbeddings

DIMENSION = 384
_BATCH = 1000  # passages a transaction, as `holdfast corpus add` stores them
_SINGLY = 1000


class FoundPlaces(NamedTuple):
    """The places of what was found; `took_ms` where the arm measures itself."""

    places: frozenset[int]
    took_ms: float = 0


class SearchArm(Protocol):
    @property
    def name(self) -> str: ...

    async def find(self, question: str, top: int) -> FoundPlaces: ...


@dataclass(frozen=True)
class CorpusMode:
    """Holdfast's corpus in one of its modes, asked as the tool asks it."""

    name: str
    finding: CorpusRetrieval

    async def find(self, question: str, top: int) -> FoundPlaces:
        mode = SearchMode(self.name)
        found = await self.finding.find("bench", question, top, mode=mode, where={})
        assert found.mode is mode, found.note
        return FoundPlaces(frozenset(int(passage.address) for passage, _ in found.hits))


@dataclass(frozen=True)
class StoredCorpus:
    """The passages in Holdfast's corpus, with vectors; how long that took in seconds."""

    arms: Sequence[SearchArm]
    stored_s: float
    one_by_one_s: float
    embedded_s: float


@asynccontextmanager
async def stored_corpus(db: Database, data: BenchmarkCollection) -> AsyncIterator[StoredCorpus]:
    """Each paragraph as a document; vectors from a hashing model over real HTTP."""
    corpus = CorpusStore(db)
    singly = await _singly(corpus, data.paragraphs[:_SINGLY])
    start = time.perf_counter()
    async with corpus.writing("bench") as writer:
        for n in range(0, len(data.paragraphs), _BATCH):
            batch = enumerate(data.paragraphs[n : n + _BATCH], start=n)
            await writer.put(*(_document(place, each) for place, each in batch))
    stored_s = time.perf_counter() - start
    await _analyzed(db)
    with HashingEmbeddings(DIMENSION) as endpoint:
        async with aclosing(_embedder(endpoint.url)) as model:
            start = time.perf_counter()
            done = await embed_collection(db, "bench", model)
            embedded_s = time.perf_counter() - start
            assert done.left == 0, done.fault
            await _analyzed(db)
            finding = CorpusRetrieval(corpus, model)
            arms = [CorpusMode(mode.value, finding) for mode in SearchMode]
            yield StoredCorpus(arms, stored_s, singly, embedded_s)


async def _singly(corpus: CorpusStore, paragraphs: Sequence[TitledText]) -> float:
    """A transaction for each document, as it was once done."""
    start = time.perf_counter()
    async with corpus.writing("singly") as writer:
        for place, each in enumerate(paragraphs):
            await writer.put(_document(place, each))
    took = time.perf_counter() - start
    async with corpus.writing("singly") as writer:
        await writer.keep_only(())
    return took


async def _analyzed(db: Database) -> None:
    """What autovacuum does a minute later."""
    async with db.reading() as connection:
        await connection.exec_driver_sql("analyze")
        await connection.commit()


def _embedder(url: str) -> Embedder:
    config = EmbeddingsConfig(model="hashing", url=url, batch_size=128)
    return create_embedder(config, base_url=url, key=None)


def _document(place: int, paragraph: TitledText) -> NewDocument:
    passages = [("", 0, len(paragraph.text))] if paragraph.text else []
    return NewDocument(
        str(place),
        paragraph.title,
        paragraph.text,
        "",
        len(paragraph.text),
        passages,
        metadata={"kind": "md"},
    )


@dataclass(frozen=True)
class PlainQuery:
    """One way to ask PostgreSQL's full text search."""

    name: str
    connection: "psycopg.Connection[Any]"
    query: str

    async def find(self, question: str, top: int) -> FoundPlaces:
        rows = await asyncio.to_thread(self._rows, question, top)
        return FoundPlaces(frozenset(place for (place,) in rows))

    def _rows(self, question: str, top: int) -> list[Any]:
        statement = f"""
        select id from plain, {self.query} as query where tsv @@ query
        order by ts_rank_cd(tsv, query) desc, id limit %(top)s"""
        return self.connection.execute(statement, {"question": question, "top": top}).fetchall()


@dataclass(frozen=True)
class PlainText:
    """One table with a generated tsvector and a GIN index, filled by COPY."""

    arms: Sequence[SearchArm]
    stored_s: float

    @classmethod
    @contextmanager
    def filled(cls, url: str, data: BenchmarkCollection) -> Iterator[Self]:
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(
                "create table plain (id int primary key, title text, body text, tsv tsvector "
                "generated always as (to_tsvector('english', title || ' ' || body)) stored)"
            )
            connection.execute("create index on plain using gin (tsv)")
            start = time.perf_counter()
            with connection.cursor().copy("copy plain (id, title, body) from stdin") as rows:
                for place, each in enumerate(data.paragraphs):
                    rows.write_row((place, each.title, each.text))
            took = time.perf_counter() - start
            connection.execute("vacuum analyze plain")
            every = "websearch_to_tsquery('english', %(question)s)"
            any_of = (
                "cast(replace(cast(plainto_tsquery('english', %(question)s) as text), '&', '|') "
                "as tsquery)"
            )
            arms = [
                PlainQuery("plain, all words", connection, every),
                PlainQuery("plain, any word", connection, any_of),
            ]
            yield cls(arms, took)


@dataclass(frozen=True)
class Bm25s:
    """bm25s in a process of the peers' environment; it measures its own searches."""

    process: Process
    indexed_s: float
    name: str = "bm25s"

    @classmethod
    @asynccontextmanager
    async def indexed(cls, size: int, folder: Path) -> AsyncIterator["Bm25s | None"]:
        if not PEERS_PYTHON.exists():
            print(PEERS_MISSING)
            yield None
            return
        process = await asyncio.create_subprocess_exec(
            str(PEERS_PYTHON),
            "-m",
            "benchmarks.peers.bm25s_search",
            str(size),
            str(folder),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
        )
        try:
            said = await cls._said(process)
            if said is None:  # the environment was made before bm25s was one of the peers
                print(PEERS_MISSING)
            yield cls(process, said["indexed_s"]) if said else None
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def find(self, question: str, top: int) -> FoundPlaces:
        assert self.process.stdin is not None, "it was started with a pipe"
        self.process.stdin.write(json.dumps([question, top]).encode() + b"\n")
        said = await self._said(self.process)
        if said is None:
            raise RuntimeError(f"bm25s ended with {await self.process.wait()}")
        return FoundPlaces(frozenset(said["places"]), said["took_ms"])

    @staticmethod
    async def _said(process: Process) -> dict[str, Any] | None:
        assert process.stdout is not None, "it was started with a pipe"
        line = await process.stdout.readline()
        said: dict[str, Any] | None = json.loads(line) if line else None
        return said
