"""What an entity asks for, and where in what was read a value for it may stand."""

from collections.abc import Set
from dataclasses import dataclass

from roles.extractive.candidates import Candidate
from roles.extractive.lexicon import Kind, kind_of_noun
from roles.extractive.offices import head_of
from roles.extractive.reading import Passage, Sentence
from roles.extractive.text import stem, stems, words


@dataclass(frozen=True)
class Wanted:
    """What an entity asks for: its type, the words that describe it, and what is known already."""

    kind: Kind
    noun: frozenset[str]
    about: frozenset[str]
    known: frozenset[str]
    relation: frozenset[str]
    folded: str
    hints: frozenset[str] = frozenset()
    """Words that only the query says: read before, and worth following to another passage."""
    subject: str = ""
    """The one thing it must be said of; empty when that is open."""
    named: frozenset[str] = frozenset()
    """The stems of the names among the words."""
    measure: str = ""
    """What is measured, as `height`: an amount must have a unit of it."""


@dataclass(frozen=True)
class Place:
    """Where a candidate stands: its passage and sentence with their shares of the wanted words."""

    passage: Passage
    sentence: Sentence
    passage_share: float
    sentence_share: float
    is_named: bool
    """Whether the question names the passage's title."""


def is_named(passage: Passage, wanted: Wanted) -> bool:
    """Whether the question names the passage's title."""
    return bool(passage.title_stems) and (
        passage.name.lower() in wanted.folded or passage.title_stems <= wanted.about
    )


def asks_for(noun: str) -> frozenset[str]:
    """The stems of the noun that names the answer: the last word that says a type."""
    for word in reversed(words(noun)):
        if kind_of_noun(word.text) is not None:
            return frozenset({stem(word.text)})
    return frozenset(stems(noun)[-1:])


def is_known(candidate: Candidate, known: Set[str]) -> bool:
    """Whether the question itself says the value already."""
    said = stems(candidate.value)
    if candidate.kind is Kind.OFFICE and stem(head_of(candidate.value)) in known:
        return True  # the question says who holds it: `the engineer` who became what?
    return not said or all(each in known for each in said)
