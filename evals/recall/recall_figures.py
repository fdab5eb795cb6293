"""Store the paragraphs of all files as one collection, embed them, and measure three searches."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from holdfast.configuration.embedding_settings import Embedder
from holdfast.corpus.spare_time_embedding import SpareTimeEmbedding
from holdfast.evals.measures.answer_metrics import bootstrap_interval
from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import CorpusRetrieval

_COLLECTION = "pooled"
_AT = (5, 10)
_BATCH = 500


@dataclass(frozen=True)
class RecallFigures:
    """Recall in percent of one mode over one file's questions."""

    file: str
    mode: str
    questions: int
    recall_at_5: float
    recall_at_10: float
    over_keyword: float
    """Points of recall@10 above keyword search, with a 95 % interval."""
    low: float
    high: float


async def measure_recall(
    database_url: str,
    embedder: Embedder | None,
    files: Mapping[str, Sequence[EvaluationQuestion]],
) -> tuple[list[RecallFigures], dict[str, float]]:
    """Return the figures by file and mode, and what the embedding took.

    Without a model, of searches by words alone, and nothing of an embedding.
    """
    db = Database(database_url)
    try:
        places = await _stored(db, [each for asked in files.values() for each in asked])
        embedding = await _embedded(db, embedder) if embedder is not None else {}
        retrieval = CorpusRetrieval(CorpusStore(db), embedder)
        figures = [
            each
            for file, asked in files.items()
            for each in await _of_file(retrieval, file, asked, places)
        ]
    finally:
        await db.close()
    return figures, embedding


async def _embedded(db: Database, embedder: Embedder) -> dict[str, float]:
    """Embed all passages as a worker does; return what that took."""
    began, used = time.perf_counter(), time.process_time()
    embedded = await SpareTimeEmbedding(db, embedder).embed_all()
    took, spent = time.perf_counter() - began, time.process_time() - used
    return {
        "passages": embedded,
        "passages_a_minute": round(60 * embedded / took),
        "passages_a_processor_second": round(embedded / spent, 1),
        "load": round(os.getloadavg()[0], 1),
    }


async def _stored(
    db: Database, questions: Sequence[EvaluationQuestion]
) -> dict[tuple[str, str], str]:
    """Store each distinct paragraph as a document; return their addresses by title and text."""
    places: dict[tuple[str, str], str] = {}
    new: list[NewDocument] = []
    for each in (paragraph for question in questions for paragraph in question.paragraphs):
        if (each.title, each.text) in places or not each.text:
            continue
        address = places[each.title, each.text] = str(len(places))
        whole = [("", 0, len(each.text))]
        new.append(NewDocument(address, each.title, each.text, "x", len(each.text), whole))
    async with CorpusStore(db).writing(_COLLECTION) as writer:
        for at in range(0, len(new), _BATCH):
            await writer.put(*new[at : at + _BATCH])
    return places


async def _of_file(
    retrieval: CorpusRetrieval,
    file: str,
    questions: Sequence[EvaluationQuestion],
    places: Mapping[tuple[str, str], str],
) -> list[RecallFigures]:
    shares: dict[SearchMode, dict[int, list[float]]] = {}
    for mode in SearchMode if retrieval.embedder is not None else (SearchMode.KEYWORD,):
        shares[mode] = {at: [] for at in _AT}
        for question in questions:
            gold = {places[p.title, p.text] for p in question.paragraphs if p.is_gold and p.text}
            found = await retrieval.find(_COLLECTION, question.text, max(_AT), mode=mode, where={})
            addresses = [passage.address for passage, _ in found.hits]
            for at in _AT:
                shares[mode][at].append(len(gold & set(addresses[:at])) / len(gold))
    keyword = shares[SearchMode.KEYWORD][10]
    figures = []
    for mode, by_place in shares.items():
        gains = [100 * (one - two) for one, two in zip(by_place[10], keyword, strict=True)]
        gain = bootstrap_interval(gains)
        figures.append(
            RecallFigures(
                file,
                mode.value,
                len(questions),
                100 * fmean(by_place[5]),
                100 * fmean(by_place[10]),
                *gain,
            )
        )
    return figures
