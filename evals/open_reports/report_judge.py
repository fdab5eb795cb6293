"""Judge a report by a model: completeness and sources from 1 to 5, a rubric, and each claim.

What the model reads is shuffled by a seed, and judged several times: how often it agrees with
itself is part of the result.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

from pydantic import Field

from holdfast.evals.open_reports.public_sets import RubricItem, rubric_share
from holdfast.evals.open_reports.rule_scores import CitedClaim
from holdfast.models.answer_draft import Draft
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import MalformedReply
from holdfast.models.frozen_model import Frozen
from holdfast.roles.dialogue.model_dialogue import ask_role
from holdfast.roles.dialogue.role_definition import AnswerT, Model, Role, TaskT

RUBRIC_BATCH = 20
"""Items of a rubric, or claims, that one call judges."""
_TRIES = 1
_SHARES = {"yes": 1.0, "partly": 0.5, "no": 0.0}
ItemT = TypeVar("ItemT")


class CitedSource(Frozen):
    """A source of the report, as its citations name it."""

    title: str
    address: str
    date: str = ""


class QualityTask(Frozen):
    """What the judge of a whole report is given."""

    question: str
    report: str
    sources: tuple[CitedSource, ...] = ()


class QualityDraft(Draft):
    """The judge's two marks."""

    reason: str = Field(default="", description="one sentence for both marks")
    completeness: int = Field(ge=1, le=5)
    source_quality: int = Field(ge=1, le=5)


class NumberedText(Frozen):
    """An item by its number."""

    number: int
    text: str


class RubricTask(Frozen):
    """What the judge of a rubric is given."""

    question: str
    report: str
    items: tuple[NumberedText, ...]


class ItemVerdict(Draft):
    """Whether one item is met."""

    number: int
    met: Literal["yes", "partly", "no"]


class RubricDraft(Draft):
    """A verdict on each item."""

    verdicts: list[ItemVerdict]


class NumberedClaim(NumberedText):
    """A claim with its quotes."""

    quotes: tuple[str, ...]


class SupportTask(Frozen):
    """What the judge of claims is given."""

    claims: tuple[NumberedClaim, ...]


QUALITY_JUDGE = Role(
    name="judge",
    instructions="""\
You mark a research `report` on a `question`. Give two marks from 1 to 5, each by itself.
`completeness`: does the report answer everything that is asked?
  5: every part of the question, with the figures, names and periods that it needs
  4: every part, one of them thinly
  3: the main part; another part is missing, or only general
  2: a fragment; the main part stays open
  1: nothing of what is asked
A gap that the report names is still a gap. Length is no merit, and neither is order.
`source_quality`: do the `sources` fit what is asked?
  5: primary or specialist sources throughout, several where the question is disputed
  4: mostly such sources
  3: mixed, or good ones for a part only
  2: mostly second-hand or undated sources, where better ones must exist
  1: none, or unfit ones
Judge what is there; use no knowledge of your own on whether a statement is true.
""",
    foreign_fields=("report", "sources"),
    task=QualityTask,
    answer=QualityDraft,
)

RUBRIC_JUDGE = Role(
    name="judge",
    instructions="""\
You check a research `report` against `items`, each by itself. An item says what the report is to
state, contain or do. Give a verdict for each number:
- `yes`: the report does so. Other words are fine; a figure must be the same within the rounding
  or the range that the item allows.
- `partly`: a part of the item is there and another part is not.
- `no`: it is not there, or the report states something else.
Look for the item in the whole report, and take nothing as stated that only follows from it. An
item may describe a fault: `yes` means that the report has the fault. Do not weigh items.
""",
    foreign_fields=("report", "items"),
    task=RubricTask,
    answer=RubricDraft,
)

SUPPORT_JUDGE = Role(
    name="judge",
    instructions="""\
You check `claims`, each by itself, against its own `quotes` alone. Give a verdict for each number:
- `yes`: somebody who reads only the quotes must accept the whole claim, or the claim follows from
  them by a sum, a count or a change of unit.
- `partly`: the quotes show a part of it, or the same with less certainty.
- `no`: they show something else, or nothing of it.
Use no knowledge of your own, and do not ask whether a claim is true.
""",
    foreign_fields=("claims",),
    task=SupportTask,
    answer=RubricDraft,
)


class JudgedReport(Frozen):
    """One round of judging a report; None where there was nothing to judge."""

    completeness: int
    source_quality: int
    rubric: float | None = None
    """The weighted share that is met, 0 to 1."""
    dimensions: Mapping[str, float] = Field(default_factory=dict)
    """The same by dimension, without dimensions of faults alone."""
    support: float | None = None
    """The share of the claims that their quotes show, half for a part."""
    verdicts: tuple[str, ...] = ()
    """On each item of the rubric, then on each claim, in their own order."""
    input_tokens: int = 0
    output_tokens: int = 0


class ReportJudge:
    """A model that judges; counts the tokens of its calls."""

    def __init__(self, model: Model, name: str, seed: int) -> None:
        self._model = model
        self.name = name
        self._seed = seed
        self._spent = [0, 0]

    async def judged(
        self,
        task: QualityTask,
        rubric: Sequence[RubricItem],
        claims: Sequence[CitedClaim],
        repeat: int,
    ) -> JudgedReport:
        """One round; the same seed and repeat shuffle alike.

        Raises:
            MalformedReply: the model gave no usable answer.
            HoldfastError: as its endpoint raises it.
        """
        self._spent = [0, 0]
        dice = random.Random(f"{self._seed}:{repeat}:{task.question}")
        sources = shuffled(task.sources, dice)
        quality = await self._asked(
            QUALITY_JUDGE, task.model_copy(update={"sources": tuple(sources)})
        )
        met = await self._rubric(task, rubric, dice)
        shown = await self._support(claims, dice)
        by_dimension: dict[str, list[int]] = {}
        for at, each in enumerate(rubric):
            by_dimension.setdefault(each.dimension, []).append(at)
        return JudgedReport(
            completeness=quality.completeness,
            source_quality=quality.source_quality,
            rubric=rubric_share(rubric, [_SHARES[each] for each in met]) if rubric else None,
            dimensions={
                name: rubric_share([rubric[at] for at in own], [_SHARES[met[at]] for at in own])
                for name, own in by_dimension.items()
                if any(rubric[at].weight > 0 for at in own)
            },
            support=sum(_SHARES[each] for each in shown) / len(shown) if shown else None,
            verdicts=(*met, *shown),
            input_tokens=self._spent[0],
            output_tokens=self._spent[1],
        )

    async def _rubric(
        self, task: QualityTask, rubric: Sequence[RubricItem], dice: random.Random
    ) -> list[str]:
        numbered = [NumberedText(number=n, text=each.text) for n, each in enumerate(rubric)]
        found: dict[int, str] = {}
        for part in _batches(shuffled(numbered, dice)):
            asked = RubricTask(question=task.question, report=task.report, items=part)
            found |= await self._verdicts(RUBRIC_JUDGE, asked, [each.number for each in part])
        return [found[n] for n in range(len(rubric))]

    async def _support(self, claims: Sequence[CitedClaim], dice: random.Random) -> list[str]:
        numbered = [
            NumberedClaim(number=n, text=each.text, quotes=each.quotes)
            for n, each in enumerate(claims)
        ]
        found: dict[int, str] = {}
        for part in _batches(shuffled(numbered, dice)):
            found |= await self._verdicts(
                SUPPORT_JUDGE, SupportTask(claims=part), [each.number for each in part]
            )
        return [found[n] for n in range(len(claims))]

    async def _verdicts(
        self, role: Role[TaskT, RubricDraft], task: TaskT, wanted: Sequence[int]
    ) -> dict[int, str]:
        def missing(answer: RubricDraft) -> list[str]:
            given = {each.number for each in answer.verdicts}
            left_out = [number for number in wanted if number not in given]
            return [f"there is no verdict on number {number}" for number in left_out]

        answer = await self._asked(role, task, missing)
        return {each.number: each.met for each in answer.verdicts if each.number in set(wanted)}

    async def _asked(
        self,
        role: Role[TaskT, AnswerT],
        task: TaskT,
        check: Callable[[AnswerT], Sequence[str]] | None = None,
    ) -> AnswerT:
        async def send(request: ModelRequest, part: int) -> Completion:  # noqa: ARG001 - in order
            completion = await self._model.complete(request)
            self._spent[0] += completion.input_tokens
            self._spent[1] += completion.output_tokens
            return completion

        asked = await ask_role(
            role, task, model_name=self.name, send=send, tries=_TRIES, check=check
        )
        if asked.answer is None:
            raise MalformedReply(f"the judge {self.name!r} gave no answer: {asked.faults[:1]}")
        return asked.answer


def shuffled(items: Sequence[ItemT], dice: random.Random) -> list[ItemT]:
    """The items in another order, which hangs on the dice alone."""
    return dice.sample(list(items), len(items))


def _batches(items: Sequence[ItemT]) -> list[tuple[ItemT, ...]]:
    return [tuple(items[at : at + RUBRIC_BATCH]) for at in range(0, len(items), RUBRIC_BATCH)]


def agreement(rounds: Sequence[JudgedReport]) -> float | None:
    """The share of verdicts and marks that are the same in two rounds, over all pairs of rounds."""
    pairs = [(one, other) for at, one in enumerate(rounds) for other in rounds[at + 1 :]]
    same = [
        first == second
        for one, other in pairs
        for first, second in zip(_all_verdicts(one), _all_verdicts(other), strict=True)
    ]
    return sum(same) / len(same) if same else None


def _all_verdicts(judged: JudgedReport) -> list[str]:
    return [str(judged.completeness), str(judged.source_quality), *judged.verdicts]
