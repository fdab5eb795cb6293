"""Parse a question: its shape, the kind of its answer, the things that are compared."""

import re
from dataclasses import dataclass
from enum import StrEnum

from holdfast.roles.extractive.questions.answer_kind import QUESTION_WORD, answer_kind_and_noun
from holdfast.roles.extractive.questions.comparison_pairs import find_pair
from holdfast.roles.extractive.questions.letter_phrases import without_letter_phrases
from holdfast.roles.extractive.questions.nested_descriptions import find_nested
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.words_and_sentences import stem, words

LONGEST_QUESTION = 2_000
"""Characters of a question that are read; the rest is ignored."""

_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
_COMMON = re.compile(r"\b(?:common|mutual|share[ds]?|shared|similar|both what)\b", re.IGNORECASE)
_SAME = re.compile(r"\bsame\b", re.IGNORECASE)


class QuestionShape(StrEnum):
    """How the answer follows from the values found."""

    CHOICE = "choice"
    """One of two named things has more of something, or is the one that fits."""
    BOTH = "both"
    """Yes or no, about two named things."""
    COMMON = "common"
    """The answer is what two named things share."""
    CHECK = "check"
    """Yes or no, about one thing."""
    CHAIN = "chain"
    """A question about a thing that is described, not named."""
    DIRECT = "direct"


@dataclass(frozen=True)
class ParsedQuestion:
    """A question taken apart; `noun` is the phrase that names the answer."""

    text: str
    shape: QuestionShape
    kind: ValueKind
    noun: str
    pair: tuple[str, str] | None = None
    inner: str = ""
    inner_noun: str = ""
    outer: str = ""
    second_question: str = ""
    """A second question in the same sentence; the report names it as a gap."""

    @property
    def same(self) -> bool:
        """True if the two things are asked to agree on a value that the question leaves open."""
        return bool(_SAME.search(self.text))


def parse_question(text: str) -> ParsedQuestion:
    """The question taken apart; never fails, whatever the text."""
    whole = " ".join(without_letter_phrases(text[:LONGEST_QUESTION]).split())
    text, also = _split_second_question(whole)
    kind, noun = answer_kind_and_noun(text)
    two = find_pair(text)
    if two is not None:
        return ParsedQuestion(whole, _paired_shape(text), kind, noun, pair=two)
    if _YES_NO.match(text) and not QUESTION_WORD.search(text):
        return ParsedQuestion(text, QuestionShape.CHECK, ValueKind.ANY, "", second_question=also)
    inner, inner_noun, outer = find_nested(text, noun)
    if (kind in _OF_MATTERS or _is_of_a_matter(kind, inner_noun)) and _is_matter(inner, inner_noun):
        inner = inner_noun = outer = ""
    shape = QuestionShape.CHAIN if inner else QuestionShape.DIRECT
    return ParsedQuestion(
        text,
        shape,
        kind,
        noun,
        inner=inner,
        inner_noun=inner_noun,
        outer=outer,
        second_question=also,
    )


def _is_of_a_matter(kind: ValueKind, inner_noun: str) -> bool:
    """True of a place or a group that is asked about a matter: a `driver of X` may have a name."""
    last = inner_noun.split()[-1] if inner_noun else ""
    return kind in (ValueKind.PLACE, ValueKind.GROUP) and last in _MATTERS


def _is_matter(inner: str, inner_noun: str) -> bool:
    """True of `contract with X`: a matter that has no name which a first search could find."""
    last = inner_noun.split()[-1] if inner_noun else ""
    is_named = kind_of_noun(last) not in (None, ValueKind.NUMBER) and last not in _NO_PERSONS
    if not last or is_named:
        return False
    return _BY_PREPOSITION.match(inner.removeprefix(inner_noun)) is not None


_OF_MATTERS = (ValueKind.NUMBER, ValueKind.DATE, ValueKind.YEAR, ValueKind.PERSON)
"""What the document of a matter says itself."""
_MATTERS = (
    *("accident", "agreement", "audit", "battle", "case", "claim", "complaint", "conference"),
    *("contract", "delivery", "dispute", "event", "fire", "flood", "hearing", "incident"),
    *("inspection", "insurance", "invoice", "lease", "loan", "meeting", "office", "offices"),
    *("order", "policy", "project", "repair", "settlement", "trial"),
)
"""Nouns of matters; any other noun may be a person's, such as `landlord` or `nurse`."""
_NO_PERSONS = ("office", "offices")
"""Nouns that share the stem of a person's: an officer has a name, an office has none."""
_BY_PREPOSITION = re.compile(
    r"\W*(?:with|for|of|on|in|at|about|between)\b(?!.*\b(?:that|which|who|whose|whom|where)\b)"
)


def _split_second_question(text: str) -> tuple[str, str]:
    """`Who was X, and where did she live?`: the first of two questions, and the second."""
    found = _SECOND.search(text)
    if found is None or not QUESTION_WORD.search(text[: found.start()]):
        return text, ""
    return f"{text[: found.start()]}?", found.group(1) or found.group(2)


_SECOND = re.compile(
    r", and ((?:(?:in|on|at|by|to|for|from|of|with) )?"
    r"(?:who|what|which|when|where|how|why|was|were|is|are|did|does)\b[^,]*)$"
    r"| and ((?:by|with|for|from) whom\b[^,]*|(?:when|where|why|how)\b[^,]*)$",
    re.IGNORECASE,
)


def _paired_shape(text: str) -> QuestionShape:
    if re.search(r"\bor\b", text, re.IGNORECASE):
        return QuestionShape.CHOICE
    if _COMMON.search(text):
        return QuestionShape.COMMON
    return QuestionShape.BOTH if _YES_NO.match(text) else QuestionShape.COMMON


def snake_name(phrase: str, fallback: str) -> str:
    """An entity's name made from a noun phrase."""
    parts = [each.text.lower() for each in words(phrase) if each.text.isascii()]
    parts = [part for part in parts if part.isidentifier() and stem(part)]
    return "_".join(parts[:4])[:40] or fallback
