"""Show an agent the quotes of the tasks that it depends on, under numbers that it may cite."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.models.loop.loop_messages import CompactedPassage
from holdfast.models.text.reference_marks import disarm_references
from holdfast.planning.loop.passage_numbers import PassageNumbers, passage_title
from holdfast.planning.loop.quote_context import widened_quotes
from holdfast.planning.text.bounded_entries import first_that_fit
from holdfast.storage.plans.given_quote_queries import GivenQuote
from holdfast.storage.plans.transcript_rows import ReadPassage

_MAX_CHARACTERS = 12_000
"""Characters of all quotes; the values that they show are given anyway."""


class GivenPassages(NamedTuple):
    """What the first message shows, and the passages behind it."""

    shown: tuple[CompactedPassage, ...]
    read: tuple[ReadPassage, ...]
    left_out: int = 0
    """Passages that have no room."""


def given_passages(quotes: Sequence[GivenQuote], numbers: PassageNumbers) -> GivenPassages:
    """Return the quotes by passage, each widened to its sentence, and number the passages."""
    read: dict[int, ReadPassage] = {}
    spans: dict[int, list[tuple[int, int]]] = {}
    for quote in quotes:
        number = numbers.reserve(quote.passage)
        step = ReadPassage(number, quote.passage, quote.step_id, quote.step_attempt)
        read.setdefault(number, step)
        spans.setdefault(number, []).append((quote.start, quote.end))
    shown = [_shown(each, spans[number]) for number, each in read.items()]
    fitting = first_that_fit(shown, _MAX_CHARACTERS, lambda each: sum(map(len, each.sentences)))
    return GivenPassages(fitting.shown, tuple(read.values()), fitting.left_out)


def _shown(each: ReadPassage, spans: Iterable[tuple[int, int]]) -> CompactedPassage:
    lines = filter(None, widened_quotes(each.passage.text, spans).splitlines())
    sentences = tuple(str(disarm_references(line)) for line in dict.fromkeys(lines))
    return CompactedPassage(
        n=each.number, title=passage_title(each.passage)[:200], sentences=sentences
    )
