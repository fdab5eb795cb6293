"""What a question asks: its shape, the type of its answer, the things it compares."""

import re
from dataclasses import dataclass
from enum import StrEnum

from roles.extractive.asking import QUESTION_WORD, asked_of
from roles.extractive.lexicon import Kind
from roles.extractive.nesting import nested
from roles.extractive.pairs import pair
from roles.extractive.text import stem, words

LONGEST_QUESTION = 2_000
"""Characters of a question that are read; what comes after is context nobody asks for."""

_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
_COMMON = re.compile(r"\b(?:common|mutual|share[ds]?|shared|similar|both what)\b", re.IGNORECASE)
_SAME = re.compile(r"\bsame\b", re.IGNORECASE)


class Shape(StrEnum):
    """How the answer is got from what is found."""

    CHOICE = "choice"
    """One of two named things has more of something, or is the one that fits."""
    BOTH = "both"
    """Yes or no, about two named things."""
    COMMON = "common"
    """What two named things share."""
    CHECK = "check"
    """Yes or no, about one thing."""
    CHAIN = "chain"
    """Something about a thing that is itself described, not named."""
    DIRECT = "direct"


@dataclass(frozen=True)
class Question:
    """A question taken apart; `noun` is the phrase that names the answer."""

    text: str
    shape: Shape
    kind: Kind
    noun: str
    pair: tuple[str, str] | None = None
    inner: str = ""
    inner_noun: str = ""
    outer: str = ""
    also: str = ""
    """A second question behind the first, which is left open."""

    @property
    def same(self) -> bool:
        """Whether the two things are asked to agree on a value that the question leaves open."""
        return bool(_SAME.search(self.text))


def analyse(text: str) -> Question:
    """The question taken apart; never fails, whatever the text."""
    whole = " ".join(text[:LONGEST_QUESTION].split())
    text, also = _first_of_two(whole)
    kind, noun = asked_of(text)
    two = pair(text)
    if two is not None:
        return Question(whole, _paired_shape(text), kind, noun, pair=two)
    if _YES_NO.match(text) and not QUESTION_WORD.search(text):
        return Question(text, Shape.CHECK, Kind.ANY, "", also=also)
    inner, inner_noun, outer = nested(text, noun)
    shape = Shape.CHAIN if inner else Shape.DIRECT
    return Question(
        text, shape, kind, noun, inner=inner, inner_noun=inner_noun, outer=outer, also=also
    )


def _first_of_two(text: str) -> tuple[str, str]:
    """`Who was X, and where did she live?`: the first of two questions, and the second."""
    found = _SECOND.search(text)
    if found is None or not QUESTION_WORD.search(text[: found.start()]):
        return text, ""
    return f"{text[: found.start()]}?", found.group(1)


_SECOND = re.compile(
    r", and ((?:(?:in|on|at|by|to|for|from|of|with) )?"
    r"(?:who|what|which|when|where|how|why|was|were|is|are|did|does)\b[^,]*)$", re.IGNORECASE,
)  # fmt: skip


def _paired_shape(text: str) -> Shape:
    if re.search(r"\bor\b", text, re.IGNORECASE):
        return Shape.CHOICE
    if _COMMON.search(text):
        return Shape.COMMON
    return Shape.BOTH if _YES_NO.match(text) else Shape.COMMON


def snake(phrase: str, fallback: str) -> str:
    """An entity's name made from a noun phrase."""
    parts = [each.text.lower() for each in words(phrase) if each.text.isascii()]
    parts = [part for part in parts if part.isidentifier() and stem(part)]
    return "_".join(parts[:4])[:40] or fallback
