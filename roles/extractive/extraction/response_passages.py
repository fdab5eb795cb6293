"""Parse a tool's response into passages and sentences; weigh words by rarity."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from holdfast.roles.extractive.text.noun_kinds import ValueKind, kind_of_noun
from holdfast.roles.extractive.text.value_candidates import descriptions_after_is
from holdfast.roles.extractive.text.words_and_sentences import LONGEST_READ, Span, sentences, stems
from holdfast.roles.tasks.extractor import Fragment

_MOST_SENTENCES = 2_000
_BORN = re.compile(r"\(\s*(?:née|born|b\.|[^()]{0,40}\d{4}\s*[–-])", re.IGNORECASE)
_WORD = re.compile(r"[^\s,.;:!?()\"“”|]+")
_PLACED = re.compile(rf"(?<!\S)(?:in|at|near) ({_WORD.pattern})")
_IN_BRACKETS = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True)
class ResponseSentence:
    """A sentence of a passage; `text` is verbatim."""

    text: str
    stems: frozenset[str]
    order: int


@dataclass(frozen=True)
class ResponsePassage:
    """One fragment of the response; `name` is its title without what is in brackets."""

    title: str
    name: str
    heading: str
    title_stems: frozenset[str]
    stems: frozenset[str]
    sentences: tuple[ResponseSentence, ...]
    text: str
    lower_text: str
    """The text in lower case: to look names up in."""
    is_title_a_name: bool
    """True if the text itself uses the title as a name; the name of a file is none."""
    kind: ValueKind | None
    """What sort of thing the passage is about, if its first sentence says so."""


@dataclass(frozen=True)
class ParsedResponse:
    """All passages of a response, and the weight of a word in it."""

    passages: tuple[ResponsePassage, ...]
    weights: dict[str, float]

    @cached_property
    def by_name(self) -> dict[str, ResponsePassage]:
        """The passages by their title in lower case, without brackets."""
        return {each.name.lower(): each for each in reversed(self.passages) if each.name}

    @cached_property
    def said_times(self) -> Counter[str]:
        """How often each word in lower case is said; all texts are read once."""
        return Counter(word for each in self.passages for word in _WORD.findall(each.lower_text))

    @cached_property
    def placed_times(self) -> Counter[str]:
        """How often each word in lower case is said as a place: `in X`, `at X`."""
        return Counter(word for each in self.passages for word in _PLACED.findall(each.lower_text))

    def weight(self, stem: str) -> float:
        """The weight of a word: high if few passages have it, 0 if none has."""
        return self.weights.get(stem, 0.0)

    def coverage(self, wanted: Set[str], present: Set[str]) -> float:
        """The share, by weight, of the wanted words that are present."""
        total = self._sum(wanted)
        return self._sum(wanted & present) / total if total else 0.0

    def _sum(self, some: Set[str]) -> float:
        # `fsum` does not depend on the order, which for sets differs from process to process.
        return math.fsum(self.weights.get(each, self.rarest) for each in some)

    @property
    def rarest(self) -> float:
        """The weight of a word that no passage has."""
        return math.log(1 + 2 * (len(self.passages) + 1))


def parse_response(fragments: Iterable[Fragment]) -> ParsedResponse:
    """The response as passages; text beyond `LONGEST_READ` is not read."""
    passages: list[ResponsePassage] = []
    left, room = LONGEST_READ, _MOST_SENTENCES
    for fragment in fragments:
        if left <= 0 or room <= 0:
            break
        passage = _passage(fragment, fragment.text[:left], room)
        left -= len(fragment.text)
        room -= len(passage.sentences)
        passages.append(passage)
    counts = Counter(each for passage in passages for each in passage.stems)
    size = len(passages) + 1
    return ParsedResponse(
        tuple(passages), {each: math.log(1 + size / count) for each, count in counts.items()}
    )


def _passage(fragment: Fragment, text: str, room: int) -> ResponsePassage:
    title = fragment.title[:300]
    about = frozenset(stems(f"{title} {fragment.heading[:300]}"))
    said = tuple(_sentence(span, order) for order, span in enumerate(sentences(text)[:room]))
    everything = about.union(*(each.stems for each in said))
    name = _IN_BRACKETS.sub("", title).strip()
    return ResponsePassage(
        title,
        name,
        fragment.heading,
        frozenset(stems(name)),
        everything,
        said,
        text,
        text.lower(),
        _is_a_name(name, text, said),
        _kind(title, said),
    )


def _is_a_name(name: str, text: str, said: tuple[ResponseSentence, ...]) -> bool:
    told = frozenset(stems(name))
    if " " not in name and name not in text:
        return False
    return bool(told) and any(len(told & each.stems) * 2 >= len(told) for each in said[:2])


def _kind(title: str, said: tuple[ResponseSentence, ...]) -> ValueKind | None:
    """By what the title has in brackets, else by the first noun of `is a ...`."""
    bracketed = _IN_BRACKETS.search(title)
    phrases = [bracketed.group().strip(" ()")] if bracketed else []
    if said:
        if _BORN.search(said[0].text[:200]):
            return ValueKind.PERSON
        phrases += [each.value for each in descriptions_after_is(said[0].text[:400])][:1]
    for phrase in phrases:
        for word in reversed(phrase.split()):
            kind = kind_of_noun(word.strip(".,"))
            if kind is not None and kind is not ValueKind.QUALITY:
                return kind
    return None


def _sentence(span: Span, order: int) -> ResponseSentence:
    return ResponseSentence(span.text, frozenset(stems(span.text)), order)
