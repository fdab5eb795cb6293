"""Let each contestant answer each question, a few at a time, and keep what comes of it."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.evals.measures.answer_metrics import is_in_passages
from holdfast.evals.measures.evaluation_engine import store_paragraphs
from holdfast.evals.peers.contestants.contestant_interface import (
    Contestant,
    Delivered,
    RunOrder,
)
from holdfast.evals.peers.metered_endpoint import MeteredEndpoint
from holdfast.evals.peers.peer_records import PeerRecords, PeerRun, question_hash
from holdfast.evals.peers.question_sets import PeerQuestion, QuestionSet
from holdfast.evals.presets.answer_judge import JudgeVerdict, judge_answer, judge_by_rules
from holdfast.roles.dialogue.role_definition import Model

OPEN_QUESTION = "open question"


@dataclass(frozen=True)
class AnswerJudging:
    """Who says whether an answer is right where words and numbers do not."""

    model: Model | None = None
    name: str = ""

    async def verdict(self, question: PeerQuestion, delivered: Delivered) -> JudgeVerdict:
        """Return the verdict: by rules, by the judge's model, or by the words of the answer."""
        if delivered.failure:
            return JudgeVerdict("failed", "rules")
        if not question.answers:
            return JudgeVerdict(OPEN_QUESTION)
        sure = judge_by_rules(delivered.answer, question.answers)
        if sure is not None:
            return sure
        if self.model is not None:
            return await judge_answer(
                question.text, delivered.answer, question.answers, self.model, self.name
            )
        is_there = is_in_passages(question.answers, [delivered.answer])
        return JudgeVerdict("correct" if is_there else "incorrect", "words")


@dataclass(frozen=True)
class PeerComparison:
    """The contestants, and where their results are kept."""

    contestants: Mapping[str, Contestant]
    metered: MeteredEndpoint
    address: str
    records: PeerRecords
    judging: AnswerJudging
    say: Callable[[str], object]

    async def compare(self, sets: Sequence[QuestionSet], slots: int) -> list[PeerRun]:
        """Return the results; what is stored is not run again."""
        for each in sets:
            await store_paragraphs(self.metered.search.corpus, each.collection, each.documents)
        free = asyncio.Semaphore(slots)

        async def one(name: str, question: PeerQuestion, given: QuestionSet) -> PeerRun:
            kept = self.records.done(name, question, given, self.metered.behind.model)
            if kept is not None:
                return kept
            async with free:
                run = await self._run(name, question, given)
            self.records.add(run)
            self.say(f"{name}: {question.id}: {run.verdict}, {run.usage.calls} calls")
            return run

        # Question by question, so that what was cut off has each question with all contestants.
        return await asyncio.gather(
            *(
                one(name, question, given)
                for given in sets
                for question in given.questions
                for name in self.contestants
            )
        )

    async def _run(self, name: str, question: PeerQuestion, given: QuestionSet) -> PeerRun:
        started = time.monotonic()
        order = RunOrder(f"{name}/{question.id}", question, given, self.address)
        delivered = await self.contestants[name].answer(order)
        verdict = await self.judging.verdict(question, delivered)
        return PeerRun(
            contestant=name,
            question=question.id,
            question_hash=question_hash(question, given),
            model=self.metered.behind.model,
            right=question.answers,
            verdict=verdict.label,
            judged_by=verdict.by,
            usage=self.metered.records(order.run).usage,
            delivered=delivered,
            seconds=round(time.monotonic() - started, 1),
        )
