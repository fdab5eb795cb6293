"""Measure storing and searching a corpus of 10,000 and 100,000 passages, and compare it with plain
full text search and bm25s.

For comparison, on the same passages: plain full text of the same PostgreSQL, and bm25s in memory.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpus.compared_search_systems import (
    Bm25s,
    PlainText,
    SearchArm,
    StoredCorpus,
    stored_corpus,
)
from benchmarks.setup.benchmark_figures import MeasuredFigure
from benchmarks.setup.corpus_data import (
    DATA_FOLDER,
    BenchmarkCollection,
    GoldQuestion,
    load_collection,
)
from holdfast.services.servers.temporary_services import temporary_services
from holdfast.storage.core.database import Database

SIZES = (10_000, 100_000)
_WARM_UP = 10
_TOP = 10
_AIM_MS = 150.0


@dataclass
class _SearchTimes:
    """What one arm took and found, question by question."""

    took_ms: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)


async def measure(
    sizes: Sequence[int] = SIZES, folder: Path = DATA_FOLDER, questions: int | None = None
) -> list[MeasuredFigure]:
    """Each question is put to all arms, one after the other, whose order turns round each time."""
    if not await asyncio.to_thread(folder.exists):
        note = f"the data of docs/performance.md are not at {folder}"
        return [MeasuredFigure("corpus", 0, "passages", None, note)]
    figures: list[MeasuredFigure] = []
    for size in sizes:
        with temporary_services() as services:
            db = Database(services.database_url, pool_size=2)
            try:
                data = load_collection(size, folder, questions=questions)
                figures += await _measured(db, services.database_url, data, folder)
            finally:
                await db.close()
    return figures


async def _measured(
    db: Database, url: str, data: BenchmarkCollection, folder: Path
) -> list[MeasuredFigure]:
    size = len(data.paragraphs)
    async with AsyncExitStack() as stack:
        ours: StoredCorpus = await stack.enter_async_context(stored_corpus(db, data))
        plain = stack.enter_context(PlainText.filled(url, data))
        peer = await stack.enter_async_context(Bm25s.indexed(size, folder))
        arms: list[SearchArm] = [*ours.arms, *plain.arms, *([peer] if peer else [])]
        seen = await _search_all_arms(arms, data.asked)
        # The others push it out of PostgreSQL's memory: so it is asked by itself as well.
        alone = await _search_all_arms(ours.arms[:1], data.asked)
    stored_in = {
        "Holdfast: store": ours.stored_s,
        "Holdfast: store 1,000, one transaction each": ours.one_by_one_s,
        "Holdfast: embed over HTTP": ours.embedded_s,
        "plain full text: store": plain.stored_s,
        **({peer.name + ": index": peer.indexed_s} if peer else {}),
    }
    figures = [MeasuredFigure(f"{size:,}: {what}", took, "s") for what, took in stored_in.items()]
    figures += _figures(f"{size:,}", seen, len(data.asked))
    p50, p95 = _percentiles(alone["keyword"].took_ms)
    return [
        *figures,
        MeasuredFigure(f"{size:,}: keyword alone, p50", p50, "ms"),
        MeasuredFigure(f"{size:,}: keyword alone, p95", p95, "ms", _AIM_MS),
    ]


async def _search_all_arms(
    arms: Sequence[SearchArm], questions: Sequence[GoldQuestion]
) -> dict[str, _SearchTimes]:
    seen = {arm.name: _SearchTimes() for arm in arms}
    for asked in questions[:_WARM_UP]:
        for arm in arms:
            await arm.find(asked.question, _TOP)
    for number, asked in enumerate(questions):
        turn = number % len(arms)
        for arm in (*arms[turn:], *arms[:turn]):
            start = time.perf_counter()
            found = await arm.find(asked.question, _TOP)
            took = (time.perf_counter() - start) * 1000
            seen[arm.name].took_ms.append(found.took_ms or took)
            seen[arm.name].recalls.append(len(asked.gold & found.places) / len(asked.gold))
    return seen


def _figures(size: str, seen: dict[str, _SearchTimes], questions: int) -> list[MeasuredFigure]:
    base = seen["keyword"]
    figures: list[MeasuredFigure] = []
    for name, each in seen.items():
        p50, p95 = _percentiles(each.took_ms)
        ratios = (ours / theirs for ours, theirs in zip(base.took_ms, each.took_ms, strict=True))
        aim = _AIM_MS if name == "keyword" else None
        figures += [
            MeasuredFigure(f"{size}: {name}, p50", p50, "ms"),
            MeasuredFigure(f"{size}: {name}, p95", p95, "ms", aim),
            MeasuredFigure(f"{size}: keyword to {name}", statistics.median(ratios), "times"),
        ]
        for data, recalls in (("all", each.recalls), *_by_data(each.recalls, questions)):
            value = 100 * statistics.mean(recalls)
            figures.append(MeasuredFigure(f"{size}: {name}, recall@10 {data}", value, "%"))
    return figures


def _percentiles(took_ms: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(took_ms)
    return ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]


def _by_data(recalls: list[float], questions: int) -> list[tuple[str, list[float]]]:
    """300 questions of hotpotqa come first; of fewer questions no such split is made."""
    return [("hotpotqa", recalls[:300]), ("musique", recalls[300:])] if questions > 300 else []
