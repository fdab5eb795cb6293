"""Check each sentence of a report against its evidence; hedge or drop unsupported sentences."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.evidence.evidence import CheckSummary, StoredEvidence
from holdfast.models.reports.report_writer_messages import (
    Statement,
    SynthesiserAnswer,
)
from holdfast.planning.reports.citation_marks import statements_by_part
from holdfast.planning.reports.evidence_selection import source_title, titled_source_text
from holdfast.planning.reports.sentence_support import hedged, is_quotation, unsupported_parts
from holdfast.planning.reports.uncited_claims import claims_without_source
from holdfast.roles.verification.sentence_checker import (
    SENTENCE_CHECKER,
    CitedPassage,
    CitingSentence,
    SentenceCheckerAnswer,
    SentenceCheckerTask,
    SupportLevel,
)

_CONTEXT_CHARACTERS = 600
"""Characters of the source on each side of a quote that the checker sees."""
_LONGEST_SPAN = 3_000
"""Characters from the first to the last quote of one source that are shown as one passage."""
_LONGEST_WORD = 40
"""A context without a space for so long is cut anywhere: some scripts have no spaces."""
_SPACE = re.compile(r"\s")


class CheckedSentence(NamedTuple):
    """A sentence with its cited evidence."""

    text: str
    cites: tuple[str, ...]

    @classmethod
    def of(cls, statement: Statement) -> "CheckedSentence":
        return cls(statement.text, tuple(dict.fromkeys(statement.evidence)))


class SupportVerdict(NamedTuple):
    """How far the evidence supports a sentence, and what is missing."""

    support: SupportLevel
    why: str = ""
    by_model: bool = False
    idle: frozenset[str] = frozenset()
    """Cited ids whose passages show no part of the sentence."""


@dataclass
class ReportSentenceChecks:
    """The checks of one report: by rules, and by a model if there is a `model_caller`."""

    found: Mapping[str, StoredEvidence]
    """The evidence by the ids that sentences cite."""
    known: Sequence[str]
    """Texts that every sentence may use: the question, and values that nobody read in a source."""
    named: Sequence[str]
    """Texts that a sentence without citation may use: sub-questions, gaps, and values read."""
    shows: Mapping[str, str] = field(default_factory=dict)
    """What was concluded from a piece of evidence, which a sentence that cites it may use."""
    model_caller: ModelCaller | None = None
    _verdicts: dict[CheckedSentence, SupportVerdict] = field(default_factory=dict, init=False)

    async def refused(self, draft: SynthesiserAnswer, *, place: str) -> dict[CheckedSentence, str]:
        """Return the sentences of the draft that fail, and why; verdicts are reused.

        Raises:
            Passing: the checking model is busy.
            Lasting: the checking model refused.
        """
        new = [each for each in dict.fromkeys(_sentences(draft)) if each not in self._verdicts]
        # In a thread: a long report has thousands of sentences.
        self._verdicts |= await asyncio.to_thread(self._checked_by_rules, new)
        asked = [each for each in new if self._needs_judgement(each)]
        if asked and self.model_caller is not None:
            self._verdicts |= await self._check_by_model(self.model_caller, asked, place)
        failed = (each for each in _sentences(draft) if not self._is_supported(each))
        return {each: self._verdicts[each].why for each in failed}

    def weighed(self, draft: SynthesiserAnswer) -> tuple[SynthesiserAnswer, CheckSummary]:
        """Return the draft with unsupported sentences dropped and others hedged, and the counts.

        Each citation that is left shows a part of its sentence.
        """
        counts = dict.fromkeys(SupportLevel, 0)
        for each in _sentences(draft):
            counts[self._verdicts[each].support] += 1
        parts = {
            name: self._kept(statements) for name, statements in statements_by_part(draft).items()
        }
        summary = CheckSummary(
            checked=sum(counts.values()),
            kept=counts[SupportLevel.SUPPORTED],
            judged=sum(self._verdicts[each].by_model for each in _sentences(draft)),
            hedged=counts[SupportLevel.PARTLY],
            dropped=counts[SupportLevel.UNSUPPORTED],
            checked_by=self.model_caller.answered_by if self.model_caller is not None else "",
        )
        return draft.model_copy(update=parts), summary

    def _kept(self, statements: Iterable[Statement]) -> list[Statement]:
        kept = []
        for sentence in statements:
            verdict = self._verdicts[CheckedSentence.of(sentence)]
            support, each = verdict.support, _without_idle_citations(sentence, verdict)
            if support is SupportLevel.PARTLY:
                kept.append(each.model_copy(update={"text": hedged(each.text)}))
            elif support is SupportLevel.SUPPORTED:
                kept.append(each)
        return kept

    def _is_supported(self, sentence: CheckedSentence) -> bool:
        return self._verdicts[sentence].support is SupportLevel.SUPPORTED

    def _checked_by_rules(
        self, sentences: Iterable[CheckedSentence]
    ) -> dict[CheckedSentence, SupportVerdict]:
        return {each: self._check_by_rules(each) for each in sentences}

    def _check_by_rules(self, sentence: CheckedSentence) -> SupportVerdict:
        more = [self.shows.get(name, "") for name in sentence.cites] or self.named
        known = (*self.known, *more)
        quotes = [self.found[name].quote for name in sentence.cites]
        faults = unsupported_parts(sentence.text, self._texts(sentence), known, quotes_shown=quotes)
        # A job without evidence has nothing to cite: its report tells the values of its tools.
        if self.found and not sentence.cites and claims_without_source(sentence.text, known):
            faults.append("it claims something and cites no evidence")
        support = SupportLevel.UNSUPPORTED if faults else SupportLevel.SUPPORTED
        return SupportVerdict(support, "; ".join(faults)[:500])

    def _needs_judgement(self, sentence: CheckedSentence) -> bool:
        """True if a model must judge the sentence: it is not a verbatim quote of its evidence."""
        if not sentence.cites or not self._is_supported(sentence):
            return False
        return not is_quotation(sentence.text, self._texts(sentence))

    def _texts(self, sentence: CheckedSentence) -> list[str]:
        items = [self.found[name] for name in sentence.cites]
        return [titled_source_text(item) for item in items]

    async def _check_by_model(
        self, model_caller: ModelCaller, sentences: Sequence[CheckedSentence], place: str
    ) -> dict[CheckedSentence, SupportVerdict]:
        named = {f"S{n}": each for n, each in enumerate(sentences, start=1)}
        cited = dict.fromkeys(name for each in sentences for name in each.cites)
        task = SentenceCheckerTask(
            sentences=tuple(
                CitingSentence(id=name, text=each.text, cites=each.cites)
                for name, each in named.items()
            ),
            passages=_cited_passages({name: self.found[name] for name in cited}),
        )

        def check(answer: SentenceCheckerAnswer) -> Sequence[str]:
            judged = [verdict.id for verdict in answer.verdicts]
            return [
                f"there is not one verdict on {name}" for name in named if judged.count(name) != 1
            ]

        dialogue = await model_caller.ask(SENTENCE_CHECKER, task, place=place, check=check)
        if dialogue.answer is None:
            # If the checker gave no verdict, treat the sentence as partly supported.
            return dict.fromkeys(
                sentences, SupportVerdict(SupportLevel.PARTLY, "it could not be checked")
            )
        return {
            named[each.id]: SupportVerdict(
                each.verdict, each.why or each.verdict.value, True, frozenset(each.idle)
            )
            for each in dialogue.answer.verdicts
            if each.id in named
        }


def _without_idle_citations(sentence: Statement, verdict: SupportVerdict) -> Statement:
    """The sentence without citations that show nothing of it; as it was if none would be left."""
    cites = [name for name in sentence.evidence if name not in verdict.idle]
    return sentence.model_copy(update={"evidence": cites}) if cites else sentence


def _sentences(draft: SynthesiserAnswer) -> list[CheckedSentence]:
    return [
        CheckedSentence.of(each)
        for statements in statements_by_part(draft).values()
        for each in statements
    ]


def _cited_passages(cited: Mapping[str, StoredEvidence]) -> tuple[CitedPassage, ...]:
    """The quotes with what stands around them; of one source the same text for all its quotes."""
    spans: dict[str, tuple[int, int]] = {}
    for item in cited.values():
        start, end = spans.get(item.source_text, (item.start, item.end))
        spans[item.source_text] = min(start, item.start), max(end, item.end)
    return tuple(
        CitedPassage(
            id=name,
            title=source_title(item),
            text=_with_context(item.source_text, *_span(item, spans[item.source_text])),
        )
        for name, item in cited.items()
    )


def _span(item: StoredEvidence, of_all: tuple[int, int]) -> tuple[int, int]:
    """The span of all quotes of the source, or that of this one if they are far apart."""
    start, end = of_all
    return of_all if end - start <= _LONGEST_SPAN else (item.start, item.end)


def _with_context(text: str, start: int, end: int) -> str:
    """The part of the text with some of its neighbourhood, without a cut word at either end."""
    first, last = max(0, start - _CONTEXT_CHARACTERS), end + _CONTEXT_CHARACTERS
    if first > 0 and (gap := _SPACE.search(text, first, min(start, first + _LONGEST_WORD))):
        first = gap.end()
    if last < len(text):
        ends = [gap.start() for gap in _SPACE.finditer(text, max(end, last - _LONGEST_WORD), last)]
        last = ends[-1] if ends else last
    return text[first:last]
