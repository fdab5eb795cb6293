"""Works the same questions under several presets, and goes on where an earlier run stopped."""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from pydantic import JsonValue

from evals.engine import store
from evals.judging import judge
from evals.measuring import judged, measured
from evals.questions import Question
from evals.records import Arm, Records, Run, question_hash
from holdfast.client import Holdfast
from models.jobs import JobRequest
from models.strategy import Strategy
from planning.presets import preset, with_settings
from roles.base import Model
from storage.corpus import Corpus
from storage.jobs import config_hash

Say: TypeAlias = Callable[[str], object]
_SAY_EVERY = 25


@dataclass(frozen=True)
class Comparison:
    """What is to be compared: the arms differ in their preset and in nothing else."""

    questions: Sequence[Question]
    arms: Sequence[Arm]
    slots: int = 4
    """Jobs in flight."""
    within: timedelta = timedelta(minutes=10)
    """How long one job is waited for; then it counts as not answered."""


def arms_of(
    presets: Iterable[str], model: str, judge_name: str, changes: Mapping[str, JsonValue]
) -> tuple[Arm, ...]:
    """An arm for each preset.

    Raises:
        NotFound: there is no such preset.
        BadInput: a setting does not exist or does not take the value.
    """
    return tuple(
        _arm(name, with_settings(preset(name).strategy, changes), model, judge_name)
        for name in dict.fromkeys(presets)
    )


def _arm(name: str, strategy: Strategy, model: str, judge_name: str) -> Arm:
    content = strategy.model_dump(mode="json")
    return Arm(
        preset=name,
        model=model,
        judge=judge_name,
        config_hash=config_hash(name, model, content),
        strategy=content,
    )


@dataclass(frozen=True)
class Bench:
    """Where the comparison is run, and where its lines are kept."""

    holdfast: Holdfast
    records: Records
    judge_model: Model | None = None
    say: Say = lambda _line: None

    async def compare(self, wanted: Comparison) -> list[Run]:
        """Every question under every arm; what is kept already is not asked again.

        Raises:
            BadInput: what is kept was run under other conditions.
        """
        self.records.begin(wanted.arms)
        kept = [self.records.done(arm, each) for arm in wanted.arms for each in wanted.questions]
        if known := sum(run is not None for run in kept):
            self.say(f"{known} of {len(kept)} jobs are kept from an earlier run")
        free, ended = asyncio.Semaphore(wanted.slots), itertools.count(known + 1)

        async def one(arm: Arm, question: Question) -> Run:
            run = self.records.done(arm, question)
            if run is not None:
                return run
            async with free:
                run = await self._worked(arm, question, wanted.within)
            self.records.add(run)
            done = next(ended)
            if done % _SAY_EVERY == 0 or done == len(kept):
                self.say(f"{done} of {len(kept)} jobs")
            return run

        # Question by question, so that what was cut off has each question under all presets.
        jobs = [one(arm, each) for each in wanted.questions for arm in wanted.arms]
        found = await asyncio.gather(*jobs)
        order = [arm.preset for arm in wanted.arms]
        return sorted(found, key=lambda run: order.index(run.preset))

    async def _worked(self, arm: Arm, question: Question, within: timedelta) -> Run:
        job_id = await self._submitted(arm, question)
        await self.holdfast.wait(job_id, within, or_paused=True)
        run = await measured(self.holdfast, arm, question, job_id)
        verdict = await judge(
            question.text, run.answer, question.answers, self.judge_model, arm.judge
        )
        return judged(run, verdict)

    async def _submitted(self, arm: Arm, question: Question) -> str:
        """The question's job; the one there is, where a run was cut off after submitting it."""
        collection = ""
        if question.paragraphs:
            collection = f"eval-{question_hash(question)}"
            await store(Corpus(self.holdfast.db), collection, question.paragraphs)
        request = JobRequest(
            question=question.text,
            preset=arm.preset,
            model=arm.model,
            strategy=Strategy.model_validate(arm.strategy),
            collection=collection,
        )
        key = f"eval:{arm.config_hash[:16]}:{question_hash(question)}:{question.id}"
        return await self.holdfast.submit(request, key=key)
