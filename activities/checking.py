"""Checking each sentence of a report against what it cites; what fails is hedged or dropped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from activities.asking import Desk
from activities.citing import parts_of, title_of
from models.evidence import Cover, StoredEvidence
from planning.sentences import faults_of, is_quotation
from roles.sentence_checker import (
    SENTENCE_CHECKER,
    CitedPassage,
    CitingSentence,
    SentenceCheckerAnswer,
    SentenceCheckerTask,
    Support,
)
from roles.synthesiser import Refused, Statement, SynthesiserAnswer

HEDGE = "The sources suggest, without fully stating it: "
_AROUND = 600
"""Characters of the source on each side of a quote that the checker sees."""


class Sentence(NamedTuple):
    """A sentence with what it cites: what a verdict is about."""

    text: str
    cites: tuple[str, ...]

    @classmethod
    def of(cls, statement: Statement) -> "Sentence":
        return cls(statement.text, tuple(dict.fromkeys(statement.evidence)))


class Verdict(NamedTuple):
    """How far a sentence is carried, and what is missing."""

    support: Support
    why: str = ""


@dataclass
class Checking:
    """The checks of one report: by rules, and by a model where there is a desk to ask it from."""

    found: Mapping[str, StoredEvidence]
    """The evidence by the ids that sentences cite."""
    known: Sequence[str]
    """What a sentence may say besides: the question, the answer, the values that were found."""
    named: Sequence[str]
    """What one that cites nothing may say besides: the sub-questions and the gaps."""
    desk: Desk | None = None
    _verdicts: dict[Sentence, Verdict] = field(default_factory=dict, init=False)

    async def refused(self, draft: SynthesiserAnswer, *, place: str) -> tuple[Refused, ...]:
        """Which sentences of the draft fail, and why; those judged before are not judged again.

        Raises:
            Passing: the model that checks is busy.
            Lasting: it refused.
        """
        new = [each for each in dict.fromkeys(_sentences(draft)) if each not in self._verdicts]
        self._verdicts |= {each: self._by_rules(each) for each in new}
        asked = [each for each in new if self._needs_judgement(each)]
        if asked and self.desk is not None:
            self._verdicts |= await self._by_model(self.desk, asked, place)
        failed = dict.fromkeys(s for s in _sentences(draft) if not self._holds(s))
        return tuple(Refused(text=each.text, why=self._verdicts[each].why) for each in failed)

    def weighed(self, draft: SynthesiserAnswer) -> tuple[SynthesiserAnswer, Cover]:
        """The draft without what is not supported, with what is partly so hedged; and the count."""
        counts = dict.fromkeys(Support, 0)
        for each in _sentences(draft):
            counts[self._verdicts[each].support] += 1
        parts = {name: self._kept(statements) for name, statements in parts_of(draft).items()}
        cover = Cover(
            checked=sum(counts.values()),
            kept=counts[Support.SUPPORTED],
            hedged=counts[Support.PARTLY],
            dropped=counts[Support.UNSUPPORTED],
            checked_by=self.desk.answered_by if self.desk is not None else "",
        )
        return draft.model_copy(update=parts), cover

    def _kept(self, statements: Iterable[Statement]) -> list[Statement]:
        kept = []
        for each in statements:
            support = self._verdicts[Sentence.of(each)].support
            if support is Support.PARTLY:
                kept.append(each.model_copy(update={"text": f"{HEDGE}{each.text}"}))
            elif support is Support.SUPPORTED:
                kept.append(each)
        return kept

    def _holds(self, sentence: Sentence) -> bool:
        return self._verdicts[sentence].support is Support.SUPPORTED

    def _by_rules(self, sentence: Sentence) -> Verdict:
        known = self.known if sentence.cites else (*self.known, *self.named)
        faults = faults_of(sentence.text, self._texts(sentence), known)
        support = Support.UNSUPPORTED if faults else Support.SUPPORTED
        return Verdict(support, "; ".join(faults)[:500])

    def _needs_judgement(self, sentence: Sentence) -> bool:
        """Whether its meaning is still to be checked: not where it says what it cites, verbatim."""
        if not sentence.cites or not self._holds(sentence):
            return False
        return not is_quotation(sentence.text, self._texts(sentence))

    def _texts(self, sentence: Sentence) -> list[str]:
        items = [self.found[name] for name in sentence.cites]
        return [f"{title_of(item)}\n{item.source_text}" for item in items]

    async def _by_model(
        self, desk: Desk, sentences: Sequence[Sentence], place: str
    ) -> dict[Sentence, Verdict]:
        named = {f"S{n}": each for n, each in enumerate(sentences, start=1)}
        cited = dict.fromkeys(name for each in sentences for name in each.cites)
        task = SentenceCheckerTask(
            sentences=tuple(
                CitingSentence(id=name, text=each.text, cites=each.cites)
                for name, each in named.items()
            ),
            passages=tuple(_passage(name, self.found[name]) for name in cited),
        )

        def check(answer: SentenceCheckerAnswer) -> Sequence[str]:
            given = [each.id for each in answer.verdicts]
            return [
                f"there is not one verdict on {name}" for name in named if given.count(name) != 1
            ]

        asked = await desk.ask(SENTENCE_CHECKER, task, place=place, check=check)
        if asked.answer is None:
            # What nobody could judge is not proven: it is not told as if it were.
            return dict.fromkeys(sentences, Verdict(Support.PARTLY, "it could not be checked"))
        return {
            named[each.id]: Verdict(each.verdict, each.why or each.verdict.value)
            for each in asked.answer.verdicts
            if each.id in named
        }


def _sentences(draft: SynthesiserAnswer) -> list[Sentence]:
    return [Sentence.of(each) for statements in parts_of(draft).values() for each in statements]


def _passage(name: str, item: StoredEvidence) -> CitedPassage:
    start, end = max(0, item.start - _AROUND), item.end + _AROUND
    return CitedPassage(id=name, title=title_of(item), text=item.source_text[start:end])
