"""Describe an entity to extract, and a sentence that may hold its value."""

from collections.abc import Set
from dataclasses import dataclass

from holdfast.roles.extractive.extraction.response_passages import ResponsePassage, ResponseSentence
from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.value_candidates import ValueCandidate
from holdfast.roles.extractive.text.words_and_sentences import stem, stems, words


@dataclass(frozen=True)
class EntityQuery:
    """What an entity asks for: its type, the words that describe it, and known words."""

    kind: ValueKind
    noun: frozenset[str]
    about: frozenset[str]
    known: frozenset[str]
    relation: frozenset[str]
    lower_text: str
    hints: frozenset[str] = frozenset()
    """Words of the query alone: they were read before and may lead to another passage."""
    subject: str = ""
    """The one thing that the value must be said of; empty if that is open."""
    named: frozenset[str] = frozenset()
    """The stems of the names among the words."""
    measure: str = ""
    """What is measured, as `height`: an amount must have a unit of it."""


@dataclass(frozen=True)
class SentenceMatch:
    """Where a candidate stands: its passage and sentence with their shares of the wanted words."""

    passage: ResponsePassage
    sentence: ResponseSentence
    passage_share: float
    sentence_share: float
    is_named: bool
    """True if the question names the passage's title."""


def is_named(passage: ResponsePassage, wanted: EntityQuery) -> bool:
    """True if the question names the passage's title."""
    return bool(passage.title_stems) and (
        passage.name.lower() in wanted.lower_text or passage.title_stems <= wanted.about
    )


def type_noun_stems(noun: str) -> frozenset[str]:
    """The stems of the noun that names the answer: the last word that says a type."""
    for word in reversed(words(noun)):
        if kind_of_noun(word.text) is not None:
            return frozenset({stem(word.text)})
    return frozenset(stems(noun)[-1:])


def is_known(candidate: ValueCandidate, known: Set[str]) -> bool:
    """True if the question itself says the value already."""
    said = stems(candidate.value)
    return not said or all(each in known for each in said)
