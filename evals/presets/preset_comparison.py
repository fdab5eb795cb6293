"""Work the same questions under several presets, and resume a run that was stopped."""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue

from holdfast.client import Holdfast
from holdfast.evals.measures.evaluation_engine import store_paragraphs
from holdfast.evals.measures.question_files import EvaluationQuestion
from holdfast.evals.presets.answer_judge import judge_answer
from holdfast.evals.presets.ended_run_measures import measure_run, with_verdict
from holdfast.evals.presets.run_records import PresetArm, QuestionRun, RunRecords, question_hash
from holdfast.models.calls.model_requests import canonical_hash
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.roles.dialogue.role_definition import Model
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs.job_rows import config_hash

PrintLine: TypeAlias = Callable[[str], object]
_SAY_EVERY = 25


@dataclass(frozen=True)
class PresetComparison:
    """What is to be compared: the arms differ in their preset and the settings they name."""

    questions: Sequence[EvaluationQuestion]
    arms: Sequence[PresetArm]
    slots: int = 4
    """Jobs in flight."""
    within: timedelta = timedelta(minutes=10)
    """How long one job is waited for; then it counts as not answered."""
    repeats: int = 1
    """How often each question is run under each arm."""

    @property
    def hash(self) -> str:
        """What makes two comparisons the same: arms, judge, questions and repeats, as 16 digits."""
        arms = sorted((arm.name, arm.judge, arm.config_hash) for arm in self.arms)
        asked = sorted((each.id, question_hash(each)) for each in self.questions)
        return canonical_hash([arms, asked, self.repeats])[:16]


class ArmVariant(NamedTuple):
    """Settings that make arms of their own, such as `verify=false` as "no verification"."""

    name: str
    changes: Mapping[str, JsonValue]


def preset_arms(
    presets: Iterable[str],
    model: str,
    judge_name: str,
    changes: Mapping[str, JsonValue],
    variants: Sequence[ArmVariant] = (),
) -> tuple[PresetArm, ...]:
    """An arm for each preset, followed by one for each variant of it.

    Raises:
        NotFound: there is no such preset.
        BadInput: a setting does not exist or does not take the value.
    """
    return tuple(
        _arm(
            name,
            each.name,
            with_settings(preset(name).strategy, {**changes, **each.changes}),
            model,
            judge_name,
        )
        for name in dict.fromkeys(presets)
        for each in (ArmVariant("", {}), *variants)
    )


def _arm(name: str, variant: str, strategy: Strategy, model: str, judge_name: str) -> PresetArm:
    content = strategy.model_dump(mode="json")
    return PresetArm(
        preset=name,
        variant=variant,
        model=model,
        judge=judge_name,
        config_hash=config_hash(name, model, content),
        strategy=content,
    )


@dataclass(frozen=True)
class ComparisonRunner:
    """Where the comparison is run, and where its lines are kept."""

    holdfast: Holdfast
    records: RunRecords
    judge_model: Model | None = None
    say: PrintLine = lambda _line: None

    async def compare(self, wanted: PresetComparison) -> list[QuestionRun]:
        """Every question under every arm; what is kept already is not asked again.

        Raises:
            BadInput: what is kept was run under other conditions.
        """
        self.records.begin(wanted.arms)
        numbers = range(1, wanted.repeats + 1)
        places = [
            (arm, each, number)
            for number in numbers
            for each in wanted.questions
            for arm in wanted.arms
        ]
        kept = [self.records.done(*place) for place in places]
        if known := sum(run is not None for run in kept):
            self.say(f"{known} of {len(kept)} jobs are kept from an earlier run")
        free, ended = asyncio.Semaphore(wanted.slots), itertools.count(known + 1)

        async def one(arm: PresetArm, question: EvaluationQuestion, repeat: int) -> QuestionRun:
            run = self.records.done(arm, question, repeat)
            if run is not None:
                return run
            async with free:
                run = await self._worked(arm, question, repeat, wanted.within)
            self.records.add(run)
            done = next(ended)
            if done % _SAY_EVERY == 0 or done == len(kept):
                self.say(f"{done} of {len(kept)} jobs")
            return run

        # Question by question, so that what was cut off has each question under all arms.
        found = await asyncio.gather(*(one(*place) for place in places))
        order = [arm.name for arm in wanted.arms]
        return sorted(found, key=lambda run: order.index(run.arm))

    async def _worked(
        self, arm: PresetArm, question: EvaluationQuestion, repeat: int, within: timedelta
    ) -> QuestionRun:
        job_id = await self._submitted(arm, question, repeat)
        await self.holdfast.wait(job_id, within, or_paused=True)
        run = await measure_run(self.holdfast, arm, question, job_id)
        verdict = await judge_answer(
            question.text, run.answer, question.answers, self.judge_model, arm.judge
        )
        return with_verdict(run, verdict).model_copy(update={"repeat": repeat})

    async def _submitted(self, arm: PresetArm, question: EvaluationQuestion, repeat: int) -> str:
        """The question's job; the one there is, where a run was cut off after submitting it."""
        collection = ""
        if question.paragraphs:
            collection = f"eval-{question_hash(question)}"
            await store_paragraphs(CorpusStore(self.holdfast.db), collection, question.paragraphs)
        request = JobRequest(
            question=question.text,
            preset=arm.preset,
            model=arm.model,
            strategy=Strategy.model_validate(arm.strategy),
            collection=collection,
        )
        key = f"eval:{arm.config_hash[:16]}:{question_hash(question)}:{question.id}"
        if repeat > 1 or arm.variant:
            # Two arms may have the same settings, and each is run by itself.
            key += f":{arm.variant}:{repeat}"
        return await self.holdfast.submit(request, key=key)
