"""Prove a loop's answer: rules first, then one judge call for the whole answer.

The values that an agent task promises are proven like sentences: rules check their quotes, and the
judge sees each of them as one more sentence, numbered after the sentences.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.loop.loop_functions import LoopAnswer, PromisingAnswer, SubQuestionAnswer
from holdfast.models.loop.loop_messages import RefusedSentence, RefusedValue
from holdfast.models.loop.loop_results import (
    DroppedSentence,
    LinkStrength,
    LoopResult,
    NumberedPassage,
    ProvenQuote,
    ProvenSentence,
    ProvenValue,
)
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.answer_confidence import (
    answer_confidence,
    value_confidence,
    weakest_of,
)
from holdfast.planning.loop.answer_proof import ProofGround
from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.planning.loop.quote_context import widened_quotes
from holdfast.planning.loop.value_links import sentences_under
from holdfast.planning.loop.value_proof import ValueProof, prove_values
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
_LONGEST_GIVEN = 1_000
_LONGEST_PROMISE = 200
_NOT_FOLLOWING = "the sentences that are shown do not give the answer"


@dataclass(frozen=True)
class Promise:
    """What an agent task of a plan promises, and what it was given."""

    expects: tuple[ExpectedEntity, ...] = ()
    given: tuple[NamedValue, ...] = ()
    given_confidence: float = 1.0
    """That of the least certain task that it depends on."""
    threshold: float | None = None
    """The confidence that each required value needs; None: any."""


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
    values: tuple[ValueProof, ...] = ()
    promise: Promise = field(default_factory=Promise)
    question: str = ""

    @property
    def is_accepted(self) -> bool:
        """True if nothing has to be corrected."""
        return not self.refused and self.follows and not self.refused_values()

    def refused_values(self) -> tuple[RefusedValue, ...]:
        """The values that are not shown, or too uncertain, as the agent is told."""
        threshold = self.promise.threshold
        required = {each.name for each in self.promise.expects if each.required}
        faults: list[RefusedValue] = []
        for each in self.values:
            confidence = self._confidence(each)
            is_weak = threshold is not None and confidence < threshold
            if each.why_refused:
                faults.append(RefusedValue(name=each.name, why=each.why_refused))
            elif self.judged_by and is_weak and self.follows and each.name in required:
                why = f"its confidence is {confidence:.2f}, and {threshold:g} is needed"
                faults.append(RefusedValue(name=each.name, why=why + self._weak_link(each)))
        return tuple(faults)

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
            values=tuple(map(self._proven_value, self.values)),
            open=tuple(dict.fromkeys(_open_lines([*answer.open, self.missing]))),
            dropped=dropped,
            follows=self.follows,
            judged_by=self.judged_by,
            is_repaired=is_repaired,
            contradicts=_contradicted(answer),
        )
        return result.model_copy(update={"confidence": answer_confidence(result)})

    def _proven_value(self, proof: ValueProof) -> ProvenValue:
        return ProvenValue(
            name=proof.name,
            value=proof.value,
            confidence=self._confidence(proof),
            quotes=proof.quotes,
            why_refused=proof.why_refused,
        )

    def _confidence(self, proof: ValueProof) -> float:
        return value_confidence(
            proof,
            self.promise.given_confidence,
            is_judged=bool(self.judged_by),
            follows=self.follows,
            based_on=self._sentences_under(proof),
        )

    def _sentences_under(self, proof: ValueProof) -> Sequence[ProvenSentence]:
        """The sentences that a value is based on: all of them if it is the only one."""
        sentences = [self.proven[n] for n in sorted(self.proven)]
        if len(self.promise.expects) == 1:
            return sentences
        return sentences_under(proof, sentences, self.question)

    def _weak_link(self, proof: ValueProof) -> str:
        """The sentence that makes a value weak, as the agent is told; empty: it is the value."""
        weakest = weakest_of(self._sentences_under(proof))
        if weakest is None or weakest.strength is not LinkStrength.WEAK:
            return ""
        return f"; it is based on what is only likely: {weakest.text[:_LONGEST_PROMISE]}"


@dataclass(frozen=True)
class LoopProof:
    """The proof of one loop's answers; without a `judge`, rules alone prove."""

    question: str
    passages: Sequence[NumberedPassage]
    judge: ModelCaller | None
    promise: Promise = field(default_factory=Promise)
    is_last: bool = False
    """True if what is refused now is not sent back."""
    shown_question: str = ""
    """The question as the judge is asked it: of a follow-up, with the questions before it."""
    ground: ProofGround = field(init=False)

    def __post_init__(self) -> None:
        given = [value_as_text(each.value) for each in self.promise.given]
        object.__setattr__(self, "ground", ProofGround(self.question, self.passages, given))

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
        values = answer.values if isinstance(answer, PromisingAnswer) else ()
        proofs = prove_values(values, self.promise.expects, self.ground, is_last=self.is_last)
        return AnswerProof(
            answer, proven, refused, values=proofs, promise=self.promise, question=self.question
        )

    async def judged(self, proof: AnswerProof, *, place: str) -> AnswerProof:
        """Return the proof after the judge's call, which `place` names in the ledger.

        Raises:
            Passing: the judge is busy.
            Lasting: the judge's model refused.
        """
        values = _numbered_values(proof)
        if self.judge is None or not (proof.proven or values):
            return proof
        passages = {each.source_id: each.passage for each in self.passages}
        sentences = [
            JudgedSentence(n=n, text=each.text, quotes=_shown_quotes(each.quotes, passages))
            for n, each in proof.proven.items()
        ]
        sentences += [
            JudgedSentence(n=n, text=self._told(each), quotes=self._quotes(each, passages))
            for n, each in values.items()
        ]
        task = AnswerJudgeTask(
            question=self.shown_question or self.question,
            answer=_answer_in_words(proof),
            sentences=tuple(sentences),
            open=tuple(_open_lines(proof.answer.open)),
        )
        asked = await self.judge.ask(ANSWER_JUDGE, task, place=place)
        if asked.answer is None:
            return proof
        return _with_judgement(proof, asked.answer, self.judge.answered_by)

    def _told(self, proof: ValueProof) -> str:
        """The value as a sentence: what it is, and the value."""
        entity = next(each for each in self.promise.expects if each.name == proof.name)
        about = (entity.description or entity.name)[:_LONGEST_PROMISE]
        return f"{about}: {value_as_text(proof.value)}"

    def _quotes(
        self, proof: ValueProof, passages: Mapping[int, SourcePassage]
    ) -> tuple[ShownQuote, ...]:
        """The quotes of a value; without any, the given values that it comes from."""
        if proof.quotes:
            return _shown_quotes(proof.quotes, passages)
        given = ((each.name, value_as_text(each.value)) for each in self.promise.given)
        return tuple(ShownQuote(title=name, text=text[:_LONGEST_GIVEN]) for name, text in given)


def _numbered_values(proof: AnswerProof) -> dict[int, ValueProof]:
    """The values that rules accept, numbered after the sentences."""
    first = len(proof.answer.sentences) + 1
    numbered = enumerate(proof.values, start=first)
    return {n: each for n, each in numbered if not each.why_refused}


def _answer_in_words(proof: AnswerProof) -> str:
    """The short answer; of an agent that promises values, these values."""
    shown = (each for each in proof.values if not each.why_refused)
    values = (f"{each.name}: {value_as_text(each.value)}" for each in shown)
    return proof.answer.short.strip() or "; ".join(values)


def _is_partial(proof: AnswerProof) -> bool:
    """True if a required value is missing: the others cannot give the whole answer."""
    shown = {each.name for each in proof.values if not each.why_refused}
    return any(each.required and each.name not in shown for each in proof.promise.expects)


def _contradicted(answer: LoopAnswer) -> str:
    said = answer.contradicts if isinstance(answer, SubQuestionAnswer) else ""
    return " ".join(said.split())[:_LONGEST_OPEN]


def _with_judgement(proof: AnswerProof, said: AnswerJudgement, judge: str) -> AnswerProof:
    values = _numbered_values(proof)
    judged = {*proof.proven, *values}
    not_shown = {
        each.n: (each.why or "its quotes do not show it")[:300]
        for each in said.not_shown
        if each.n in judged
    }
    strengths = _strengths(said, judged)
    follows = said.answer_follows or not _answer_in_words(proof) or _is_partial(proof)
    missing = "" if follows else " ".join(said.missing.split())[:_LONGEST_OPEN]
    why_not = "" if follows else ": ".join(part for part in (_NOT_FOLLOWING, missing) if part)
    return replace(
        proof,
        proven={
            n: sentence.model_copy(update={"strength": strengths[n]})
            for n, sentence in proof.proven.items()
            if n not in not_shown
        },
        refused={**proof.refused, **{n: not_shown[n] for n in proof.proven if n in not_shown}},
        values=tuple(
            each.judged(strengths.get(n), not_shown.get(n, ""))
            for n, each in enumerate(proof.values, start=len(proof.answer.sentences) + 1)
        ),
        follows=follows,
        why_not=why_not,
        missing=missing,
        judged_by=judge,
    )


def _strengths(said: AnswerJudgement, judged: Collection[int]) -> dict[int, LinkStrength]:
    """The strength of each link: that of the weakest one, or of all if the judge names none."""
    if said.weakest is None:
        return dict.fromkeys(judged, said.strength)
    return {n: said.strength if n == said.weakest else LinkStrength.STATED for n in judged}


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
