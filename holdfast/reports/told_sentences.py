"""Find out which sentences of a report say nothing that its reader has not read already.

A sentence that is left out by mistake is lost, and one that is shown twice costs a line: in doubt
it is shown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple, Self

from holdfast.models.evidence.evidence import Report, ReportStatement
from holdfast.planning.reports.number_spellings import MONTHS, canonical_number, number_of_word
from holdfast.roles.extractive.text.words_and_sentences import sentences, stem

_FEW_FINDINGS = 3
"""A reader of so few findings sees their quotes too, so a sentence of the quotes adds nothing."""
_MOST_READ = 50_000
"""Characters of findings that a reader keeps in mind, and that are compared in a fraction of a
second: a page that shows a huge report stops all other pages for as long."""
_TOKEN = re.compile(
    r"(?<![\w)])[-−–]?(?P<number>\d+(?:,\d{3})+(?:\.\d+)?(?![\w.,]*\d)|\d+(?:\.\d+)?(?![\w.,]*\d))"
    r"|(?P<figure>(?<![\w)])[-−–]?\d+(?:[.,]\d+)+|\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)"
    r"|(?P<sign>[^\w\s.,;:!?…'\"“”‘’()\[\]*|/\\–—-])"
)
_CLAUSE_END = re.compile(r"[,;:)—](?=\s|$)|(?<=\s)[(—]")
_ASKING = re.compile(
    r"^\W*(?:which|what|how (?:many|much)|who|whom|when|where|how)\b"
    r"(?:(?<=ich|hat|any|uch) "
    r"(?!(?:is|are|was|were|ha[sd]|have|can|could|would|should)\b)[^\W\d_]+)?",
    re.IGNORECASE,
)
"""The words of a question that its answer replaces: `who`, `which bridge`, `how many members`."""
_UNCONTRACTED = {"ca": "can", "wo": "will", "sha": "shall"}
_FILLER = """
a also an and did do does that the which who whom whose
"""
_FILLING = frozenset(_FILLER.split())
"""Words that say nothing by themselves."""
_BEING = {"are": "is", "am": "is", "were": "was"} | {e: e for e in ("is", "was", "be", "been")}
_BEFORE_DATE = frozenset(("at", "in", "on"))
_DENYING = """
aucun aucune cannot either except impossible instead jamais kaum kein keine keinen keiner lack ne
neither never nicht nichts nie niemals no nobody non none nor not nothing nowhere or ou pas rien
unlike until unless weder whether without
"""
"""Negations and alternatives, in the languages that most of our readers write."""
_TURNING = """
about aim allegedly almost although approximately attempt barely below but cancel cease claim
contradict could decline deny despite disagree dispute doubt else expect fail false falsely few
fewer formerly hardly however if incorrect incorrectly intend least less likely maybe may might
minus mistaken more most must nearly negate negative only part partly perhaps plan possible possibly
postpone pretend prevent probable probably promise propose rarely refuse reject reportedly retract
revoke scarcely seldom shall should some suppose supposedly than though threaten try unclear
unlikely untrue while will withdraw would wrong wrongly zero
"""
"""Words that change in other ways what the rest of a sentence says."""


class _Said(NamedTuple):
    """A sentence as the words of its clauses, in order."""

    clauses: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, sentence: str, *, is_past: bool = False) -> Self:
        parts = (tuple(_tokens(part, is_past=is_past)) for part in _CLAUSE_END.split(sentence))
        return cls(tuple(part for part in parts if part))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for clause in self.clauses for word in clause)

    def tells(self, other: Self) -> bool:
        """True if whole clauses of this sentence are the other, and the rest turns nothing."""
        said, words = other.words, self.words
        bounds = frozenset(accumulate(map(len, self.clauses), initial=0))
        is_said = bool(said) and any(
            end - len(said) in bounds and words[end - len(said) : end] == said for end in bounds
        )
        return is_said and _turns(said) == _turns(words)


class _Answered(NamedTuple):
    """A question and its answer as words; None for `asked` if only the answer says what holds."""

    asked: tuple[str, ...] | None
    given: tuple[str, ...]
    is_past: bool

    @classmethod
    def of(cls, question: str, answer: str) -> Self:
        """Return the words; a question with alternatives or `not` leaves open what is said."""
        is_past = re.search(r"\bdid\b", question, re.IGNORECASE) is not None
        asked = tuple(_tokens(_ASKING.sub(" ", question), is_past=is_past))
        is_open = not _DENYING_WORDS.isdisjoint(_tokens(question))
        return cls(None if is_open else asked, tuple(_tokens(answer, is_past=is_past)), is_past)

    def is_said_by(self, sentence: str) -> bool:
        """True if the sentence is the question with the answer in place of its question word."""
        if self.asked is None or not self.given:
            return False
        said = tuple(_tokens(sentence, is_past=self.is_past))
        parts = (_without_being(self.asked), _without_being(self.given))
        return _being(said) == _being(self.asked + self.given) and _without_being(said) in (
            parts[0] + parts[1],
            parts[1] + parts[0],
        )


class Told(NamedTuple):
    """What the reader of a report knows: sentences, the question with its answer, and marks."""

    said: tuple[_Said, ...]
    answered: _Answered
    marks: frozenset[int]

    @classmethod
    def by_findings(cls, report: Report, answer: str) -> Self:
        """Return what answer and findings tell; with the quotes of few, the first of very many."""
        marks = frozenset(mark for each in report.findings for mark in each.marks)
        lengths = accumulate(len(each.text) for each in report.findings)
        read = [
            each.text
            for each, length in zip(report.findings, lengths, strict=True)
            if length <= _MOST_READ
        ]
        texts = [answer, *read]
        if len(report.findings) <= _FEW_FINDINGS:
            texts += [each.quote for each in report.citations if each.mark in marks]
        said = tuple(_Said.of(each) for text in texts for each in _sentences(text))
        return cls(said, _Answered.of(report.question, answer), marks)

    def tells(self, statements: Iterable[ReportStatement]) -> bool:
        """True if no statement says or cites what the reader does not know."""
        return all(
            self.marks.issuperset(each.marks) and self._knows(each.text) for each in statements
        )

    def _knows(self, text: str) -> bool:
        for each in _sentences(text):
            said = _Said.of(each)
            is_told = any(known.tells(said) for known in self.said)
            if not is_told and not self.answered.is_said_by(each):
                return False
        return True


def are_told_by_answer(findings: Iterable[ReportStatement], question: str, answer: str) -> bool:
    """True if the answer, alone or put into its question, says what each of few findings says.

    A finding without the words of the answer is not told by it: it is the reason for a `Yes`.
    """
    few = tuple(findings)
    said = tuple(_Said.of(each) for each in _sentences(answer))
    marks = frozenset(mark for each in few for mark in each.marks)
    told = Told(said, _Answered.of(question, answer), marks)
    return 0 < len(few) <= _FEW_FINDINGS and told.tells(few)


def turns(text: str) -> bool:
    """True if a word of the text changes what else is said, such as `not` or `wrong`."""
    return any(_is_turning(word) for word in _tokens(text))


def _sentences(text: str) -> list[str]:
    return [each.text for each in sentences(text)]


def _tokens(text: str, *, is_past: bool = False) -> Iterator[str]:
    """Yield words, numbers with their signs, and signs such as `%`; in the order of the text.

    Plurals are as the singular; where a question asks with `did`, the past is as the present too.
    """
    found = [part for match in _TOKEN.finditer(text) for part in _parts(match)]
    for word, following in zip(found, [*found[1:], ""], strict=False):
        is_dated = word in _BEFORE_DATE and (_is_number(following) or following in MONTHS)
        if word not in _FILLING and not is_dated:
            yield _plain(word, is_past=is_past)


def _parts(match: re.Match[str]) -> tuple[str, ...]:
    """The token; `can't` is `can` and `not`."""
    text = match.group().casefold().replace("’", "'")
    if match["number"]:
        minus = "-" if text[0] in "-−–" else ""
        return (minus + canonical_number(match["number"]),)
    if match["word"] and text in ("cannot", "can't"):
        return ("can", "not")
    if match["word"] and text.endswith("n't"):
        bare = text.removesuffix("n't")
        return (_UNCONTRACTED.get(bare, bare), "not")
    return (text,)


def _plain(word: str, *, is_past: bool) -> str:
    if not word.isalpha():
        return word.removesuffix("'s")
    if word in _BEING:
        return _BEING[word]
    number = None if _is_ordinal(word) else number_of_word(word)
    if number is not None:
        return number
    if is_past and not word.endswith(("er", "ers", "or", "ors", "ee", "ees", "ing", "ly")):
        return stem(word)
    return _singular(word)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def _turns(words: Iterable[str]) -> Counter[str]:
    """The numbers and the words that turn what is said, each as often as it stands there."""
    return Counter(each for each in words if _is_number(each) or _is_turning(each))


def _is_turning(word: str) -> bool:
    return word in _TURNING_WORDS or stem(word) in _TURNING_STEMS


def _is_number(word: str) -> bool:
    return any(each.isdigit() for each in word) or number_of_word(word) is not None


def _is_ordinal(word: str) -> bool:
    """True for `seventh`: seven lakes are no seventh lake."""
    return word != "thousand" and word.endswith(("st", "nd", "rd", "th"))


def _without_being(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for each in words if each not in _BEING)


def _being(words: Iterable[str]) -> Counter[str]:
    return Counter(each for each in words if each in _BEING)


_DENYING_WORDS = frozenset(_DENYING.split())
_TURNING_WORDS = _DENYING_WORDS.union(_TURNING.split())
_TURNING_STEMS = frozenset(stem(each) for each in _TURNING.split() if not each.endswith("ly"))
