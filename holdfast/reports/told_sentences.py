"""Find out which sentences of a report say nothing that its reader has not read already."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.models.text.words import words_of
from holdfast.roles.extractive.text.words_and_sentences import stem

_SHORTEST_WORD = 3
_FEW_FINDINGS = 3
"""A reader of so few findings sees their quotes too, so a sentence of the quotes adds nothing."""
_JOINING = """
also and are been for from had has have its than that the their these they this those was were which
whose with
"""
"""Words of some length that say nothing by themselves."""
_JOINING_WORDS = frozenset(_JOINING.split())
_TURNING = """
about almost after before cannot except fewer half least less likely may maybe might more most
nearly never no none nor not only part partly perhaps possibly probably some unless until without
"""
"""Words that change what a sentence says, however few they are."""
_LEAST_WORDS = 6
"""A sentence of fewer words says much with each."""


class Told(NamedTuple):
    """What the reader of a report knows: the stems of the words, and the marks.

    Where the quotes are known too, a sentence may have one plain word of its own: what it says is
    in the quotes, or it would have been refused.
    """

    words: frozenset[str]
    marks: frozenset[int]
    has_quotes: bool = False

    @classmethod
    def by_findings(cls, report: Report, answer: str) -> Self:
        """Return what question, answer and findings tell; with the quotes of few findings."""
        marks = frozenset(mark for each in report.findings for mark in each.marks)
        texts = [report.question, answer, *(each.text for each in report.findings)]
        are_few = len(report.findings) <= _FEW_FINDINGS
        if are_few:
            texts += [each.quote for each in report.citations if each.mark in marks]
        return cls(_stems(words_of(" ".join(texts))), marks, has_quotes=are_few)

    def tells(self, statements: Iterable[ReportStatement]) -> bool:
        """True if no statement says or cites what the reader does not know."""
        return all(
            self.marks.issuperset(each.marks) and self._knows(each.text) for each in statements
        )

    def _knows(self, text: str) -> bool:
        said = telling_words(text)
        new = said - self.words
        if not new or not self.has_quotes or len(said) < _LEAST_WORDS:
            return not new
        names = _stems(words_of(" ".join(e for e in text.split()[1:] if e[:1].isupper())))
        return (
            len(new) == 1 and all(e.isalpha() for e in new) and not new & (names | _TURNING_STEMS)
        )


def are_told_by_answer(findings: Iterable[ReportStatement], question: str, answer: str) -> bool:
    """True if question and answer have all words of the findings, which are few.

    A finding that shares no word with the answer is not told by it: it is the reason for a `Yes`.
    """
    few, said = tuple(findings), telling_words(answer)
    known = said | telling_words(question)
    told = all(said & words and words <= known for words in (telling_words(e.text) for e in few))
    return 0 < len(few) <= _FEW_FINDINGS and told


def telling_words(text: str) -> frozenset[str]:
    """The stems of the words of some length, every number, and `no`, which turns what is said."""
    short = {word for word in words_of(text) if word == "no" or not word.isalpha()}
    return _stems((words_of(text, _SHORTEST_WORD) - _JOINING_WORDS) | short)


def _stems(words: Iterable[str]) -> frozenset[str]:
    """The words without their endings; a number is itself."""
    return frozenset(stem(word) if word.isalpha() else word for word in words)


_TURNING_STEMS = _stems(_TURNING.split())
