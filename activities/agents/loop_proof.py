"""Prove a loop's answer: rules first, then one judge call for the whole answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_functions import (
    AnswerSentence,
    LoopAnswer,
    PromisedValue,
    PromisingAnswer,
)
from holdfast.models.loop.loop_messages import RefusedSentence
from holdfast.models.loop.loop_results import (
    DroppedSentence,
    LinkStrength,
    LoopResult,
    NumberedPassage,
    ProvenQuote,
    ProvenSentence,
    ProvenValue,
)
from holdfast.models.text.storable_text import storable_value
from holdfast.planning.loop.answer_confidence import answer_confidence
from holdfast.planning.loop.answer_proof import ProofGround
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.planning.loop.quote_context import widened_quotes
from holdfast.roles.loop.answer_judge import (
    ANSWER_JUDGE,
    AnswerJudgement,
    AnswerJudgeTask,
    JudgedSentence,
    ShownQuote,
)

_MAX_OPEN = 20
_LONGEST_OPEN = 500
_LONGEST_SHORT = 2_000
_CLAIMED = 0.8
"""The confidence of a value whose agent names none."""
_NOT_FOLLOWING = "the sentences that are shown do not give the answer"
_UNSHOWN = 0.5
"""The most for a value without a quote in its passage."""


@dataclass(frozen=True)
class AnswerProof:
    """What the proof of an answer came to: proven sentences, and refused ones with reasons."""

    answer: LoopAnswer
    proven: Mapping[int, ProvenSentence]
    """By the number of the sentence, from 1."""
    refused: Mapping[int, str]
    follows: bool = True
    why_not: str = ""
    missing: str = ""
    """The link that keeps the answer from following, as the judge names it."""
    judged_by: str = ""
    values: tuple[ProvenValue, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """True if nothing has to be corrected."""
        return not self.refused and self.follows

    def refusals(self) -> tuple[RefusedSentence, ...]:
        """The refused sentences as the agent is told."""
        sentences = self.answer.sentences
        return tuple(
            RefusedSentence(sentence=n, text=sentences[n - 1].text[:300], why=why)
            for n, why in sorted(self.refused.items())
        )

    def result(self, *, is_repaired: bool) -> LoopResult:
        """The answer with its proven sentences; what stays refused is dropped and named."""
        answer = self.answer
        dropped = tuple(
            DroppedSentence(text=answer.sentences[n - 1].text[:500], why=why)
            for n, why in sorted(self.refused.items())
        )
        result = LoopResult(
            short=" ".join(answer.short.split())[:_LONGEST_SHORT],
            sentences=tuple(self.proven[n] for n in sorted(self.proven)),
            values=self.values,
            open=tuple(dict.fromkeys(_open_lines([*answer.open, self.missing]))),
            dropped=dropped,
            follows=self.follows,
            judged_by=self.judged_by,
            is_repaired=is_repaired,
        )
        confidence = answer_confidence(result, [each.confidence for each in self.values])
        return result.model_copy(update={"confidence": confidence})


@dataclass(frozen=True)
class LoopProof:
    """The proof of one loop's answers; without a `judge`, rules alone prove."""

    question: str
    passages: Sequence[NumberedPassage]
    judge: ModelCaller | None
    ground: ProofGround = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ground", ProofGround(self.question, self.passages))

    def by_rules(self, answer: LoopAnswer) -> AnswerProof:
        """Return the proof by rules alone."""
        proven: dict[int, ProvenSentence] = {}
        refused: dict[int, str] = {}
        for n, sentence in enumerate(answer.sentences, start=1):
            found = self.ground.prove(sentence)
            if found.proven is None:
                refused[n] = found.why
            else:
                proven[n] = found.proven
        return AnswerProof(answer, proven, refused, values=self._values(answer))

    async def judged(self, proof: AnswerProof, *, place: str) -> AnswerProof:
        """Return the proof after the judge's call, which `place` names in the ledger.

        Raises:
            Passing: the judge is busy.
            Lasting: the judge's model refused.
        """
        if self.judge is None or not proof.proven:
            return proof
        passages = {each.source_id: each.passage for each in self.passages}
        task = AnswerJudgeTask(
            question=self.question,
            answer=proof.answer.short,
            sentences=tuple(
                JudgedSentence(
                    n=n,
                    text=sentence.text,
                    quotes=_shown_quotes(sentence.quotes, passages),
                )
                for n, sentence in proof.proven.items()
            ),
            open=tuple(_open_lines(proof.answer.open)),
        )
        asked = await self.judge.ask(ANSWER_JUDGE, task, place=place)
        if asked.answer is None:
            return proof
        return _with_judgement(proof, asked.answer, self.judge.answered_by)

    def _values(self, answer: LoopAnswer) -> tuple[ProvenValue, ...]:
        if not isinstance(answer, PromisingAnswer):
            return ()
        return tuple(self._value(each) for each in answer.values if each.value is not None)

    def _value(self, said: PromisedValue) -> ProvenValue:
        located = (self.ground.quote_of(cite) for cite in said.cites)
        quotes = tuple(dict.fromkeys(quote for quote in located if quote is not None))
        claimed = _CLAIMED if said.confidence is None else min(max(said.confidence, 0.0), 1.0)
        confidence = claimed if quotes else min(claimed, _UNSHOWN)
        return ProvenValue(
            name=said.name, value=storable_value(said.value), confidence=confidence, quotes=quotes
        )


def _with_judgement(proof: AnswerProof, said: AnswerJudgement, judge: str) -> AnswerProof:
    refused = dict(proof.refused)
    for each in said.not_shown:
        if each.n in proof.proven:
            refused[each.n] = (each.why or "its quotes do not show it")[:300]
    weakest = said.weakest
    proven = {
        n: sentence.model_copy(update={"strength": said.strength}) if n == weakest else sentence
        for n, sentence in proof.proven.items()
        if n not in refused
    }
    if weakest is None and said.strength is not LinkStrength.STATED:
        proven = {
            n: each.model_copy(update={"strength": said.strength}) for n, each in proven.items()
        }
    follows = said.answer_follows or not proof.answer.short.strip()
    missing = "" if follows else " ".join(said.missing.split())[:_LONGEST_OPEN]
    why_not = "" if follows else ": ".join(part for part in (_NOT_FOLLOWING, missing) if part)
    return replace(
        proof,
        proven=proven,
        refused=refused,
        follows=follows,
        why_not=why_not,
        missing=missing,
        judged_by=judge,
    )


def _shown_quotes(
    quotes: Sequence[ProvenQuote], passages: Mapping[int, SourcePassage]
) -> tuple[ShownQuote, ...]:
    """The quotes as the judge sees them: those of one passage together, no sentence twice."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for quote in quotes:
        spans.setdefault(quote.source_id, []).append((quote.start, quote.end))
    return tuple(
        ShownQuote(
            title=passage_title(passages[key])[:200],
            text=widened_quotes(passages[key].text, each),
        )
        for key, each in spans.items()
    )


def _open_lines(lines: Sequence[str]) -> list[str]:
    return [" ".join(line.split())[:_LONGEST_OPEN] for line in lines if line.strip()][:_MAX_OPEN]


def with_corrections(
    first: LoopAnswer, again: LoopAnswer, refused: Sequence[int], *, is_alone: bool
) -> LoopAnswer:
    """Return the first answer with the corrected sentences in their places.

    Corrections name the sentence that they replace. Where corrections alone were asked for, they
    may also come in the order of the refused ones. Everything else is a whole new answer.
    """
    by_number: dict[int | None, list[AnswerSentence]] = {}
    for each in again.sentences:
        by_number.setdefault(each.replaces if each.replaces in refused else None, []).append(each)
    unnamed = by_number.pop(None, [])
    if not by_number and is_alone and len(unnamed) <= len(refused):
        by_number = {n: [each] for n, each in zip(refused, unnamed, strict=False)}
    elif unnamed or not by_number:
        return again
    kept = [
        sentence
        for n, each in enumerate(first.sentences, start=1)
        for sentence in (by_number.get(n, []) if n in refused else [each])
    ]
    changes = {
        "short": again.short if again.short.strip() else first.short,
        "sentences": [each for each in kept if each.text.strip()],
        "open": [*first.open, *again.open],
    }
    return first.model_copy(update=changes)
