"""Work questions with the real engine: a worker in this process and a collection per question."""

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pydantic import SecretStr

from holdfast.client import Holdfast
from holdfast.evals.measures.confidence_figures import RatedAnswer, is_right_answer
from holdfast.evals.measures.keyword_baseline import (
    CitedAmount,
    CitedPassages,
    cite_as_much,
    substitute_amount,
)
from holdfast.evals.measures.question_files import EvaluationQuestion, QuestionParagraph
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.errors import NotFound
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.evidence.evidence import Citation
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, Strategy
from holdfast.models.views.job_views import JobView
from holdfast.settings import Endpoints, Settings
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import MAX_HITS, CorpusStore
from holdfast.storage.evidence.evidence_rows import evidence_of, load_report
from holdfast.temporal.temporal_connection import connect
from holdfast.tools.documents.passage_splitter import split_passages
from holdfast.worker import build_worker, open_services

PRESET = "kpi-chain"
PrintProgress: TypeAlias = Callable[[int, int], object]
"""Is told how many questions have ended, and of how many."""
_WITHIN = timedelta(minutes=3)


class EvaluationServices(NamedTuple):
    """The services to work with, and a folder for the worker's settings."""

    home: Path
    database_url: str
    temporal_address: str


@dataclass(frozen=True)
class AnsweredJob:
    """A question after its job; a job that delivered no report cites nothing."""

    question: EvaluationQuestion
    job: JobView
    ours: CitedPassages
    read: int
    """Distinct passages that the job holds evidence from, cited or not."""
    marks: int
    """Citations in the report."""
    open_citations: int
    """Those whose quote stands in the collection where the citation says."""
    confidence: float | None
    """What the report states of its answer."""
    route: AnswerRoute | None

    @property
    def answer(self) -> str:
        return self.job.answer or ""

    @property
    def rated(self) -> RatedAnswer | None:
        """The answer with its confidence; None where no answer or no confidence is stated."""
        if not self.answer or self.confidence is None:
            return None
        is_right = is_right_answer(self.answer, self.question.answers)
        return RatedAnswer(self.confidence, is_right, self.route)


@dataclass(frozen=True)
class ComparedQuestion(AnsweredJob):
    """The same, with what the search cites for the same question."""

    keyword: CitedPassages


@dataclass(frozen=True)
class QuestionLab:
    """A running engine with the collections of the questions."""

    holdfast: Holdfast
    corpus: CorpusStore
    strategy: Strategy

    async def work(
        self,
        questions: Sequence[EvaluationQuestion],
        slots: int,
        say: PrintProgress = lambda *_: None,
    ) -> list[ComparedQuestion]:
        """All questions, `slots` jobs at a time; in the order given."""
        free, ended = asyncio.Semaphore(slots), itertools.count(1)

        async def one(at: int, question: EvaluationQuestion) -> AnsweredJob:
            async with free:
                answered = await self._answered(f"question-{at}", question)
            say(next(ended), len(questions))
            return answered

        done = await asyncio.gather(*(one(at, each) for at, each in enumerate(questions)))
        amounts = [each.ours.amount for each in done]
        return [
            await self._compare_with_search(f"question-{at}", each, amounts)
            for at, each in enumerate(done)
        ]

    async def _answered(self, collection: str, question: EvaluationQuestion) -> AnsweredJob:
        await store_paragraphs(self.corpus, collection, question.paragraphs)
        job_id = await self.holdfast.submit(self._request(question.text, collection))
        await self.holdfast.wait(job_id, _WITHIN)
        job = await self.holdfast.show(job_id)
        report = await load_report(self.holdfast.db, job_id)
        citations = report.citations if report else ()
        opened = [await self._opened(collection, each) for each in citations]
        found = [each for each in opened if each is not None]
        read = {each.source_id for each in await evidence_of(self.holdfast.db, job_id)}
        cited = CitedPassages(tuple({(each.address, each.start): each for each in found}.values()))
        return AnsweredJob(
            question,
            job,
            cited,
            len(read),
            len(citations),
            len(found),
            confidence=report.confidence if report else None,
            route=report.route if report else None,
        )

    def _request(self, question: str, collection: str) -> JobRequest:
        return JobRequest(
            question=question,
            preset=PRESET,
            model=EXTRACTIVE_MODEL,
            strategy=self.strategy,
            collection=collection,
        )

    async def _opened(self, collection: str, citation: Citation) -> SourcePassage | None:
        """The passage that a reader finds at the citation; None if the quote is not there."""
        place = (citation.address, citation.start, citation.end)
        try:
            passages = await self.corpus.read(collection, *place)
        except NotFound:
            return None
        for each in passages:
            if each.text[citation.start - each.start : citation.end - each.start] == citation.quote:
                return each
        return None

    async def _compare_with_search(
        self, collection: str, done: AnsweredJob, amounts: Sequence[CitedAmount]
    ) -> ComparedQuestion:
        amount = done.ours.amount
        if not amount.passages:
            amount = substitute_amount(amounts, done.read)
        hits = await self.corpus.search(collection, done.question.text, MAX_HITS)
        return ComparedQuestion(**vars(done), keyword=cite_as_much(hits, amount))


async def store_paragraphs(
    corpus: CorpusStore, collection: str, paragraphs: Sequence[QuestionParagraph]
) -> None:
    """Store each paragraph as a document; storing the same paragraphs again changes nothing."""
    async with corpus.writing(collection) as writer:
        for each in paragraphs:
            content = each.text.encode()
            digest, pieces = hashlib.sha256(content).hexdigest(), split_passages(each.text)
            await writer.put(
                NewDocument(each.address, each.title, each.text, digest, len(content), pieces)
            )


@asynccontextmanager
async def running_question_lab(
    where: EvaluationServices, strategy: Strategy
) -> AsyncIterator[QuestionLab]:
    """A worker that polls, at services that run; nothing of the user's own settings is used."""
    endpoints = Endpoints(
        database_url=where.database_url,
        temporal_address=where.temporal_address,
        temporal_namespace="default",
        temporal_ui=None,
        embedded_database=True,
        embedded_temporal=True,
    )
    async with running_worker(where.home, endpoints) as holdfast:
        yield QuestionLab(holdfast, CorpusStore(holdfast.db), strategy)


@asynccontextmanager
async def running_worker(
    home: Path, endpoints: Endpoints, *, servers: str = "", model_url: str = ""
) -> AsyncIterator[Holdfast]:
    """A worker in this process; `servers` is what its `holdfast.toml` says.

    Its model's endpoint is the one that the environment names, or the one at `model_url`.
    """
    # A file of its own, if an empty one: the worker would take the user's own tools otherwise.
    config = home / "eval.toml"
    config.write_text(servers)
    chosen = Settings(home=home, config_file=config, task_queue="evals")
    if model_url:
        named = {"openai_base_url": model_url, "openai_api_key": SecretStr("none")}
        chosen = Settings.model_validate(chosen.model_dump(exclude_unset=True) | named)
    client = await connect(chosen, endpoints)
    async with (
        open_services(chosen, endpoints.database_url) as parts,
        build_worker(client, parts, chosen),
    ):
        yield Holdfast(chosen, endpoints, parts.db)
