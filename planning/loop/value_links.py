"""Find the sentences of an agent's answer that a promised value is based on."""

from collections.abc import Iterable, Sequence

from holdfast.models.loop.loop_results import ProvenQuote, ProvenSentence
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.value_proof import ValueProof
from holdfast.planning.reports.sentence_support import capitalised_words

_Mark = str | tuple[int, int, int]
"""A name, or the place of a quote: source, start and end."""


def sentences_under(
    value: ValueProof, sentences: Sequence[ProvenSentence], question: str
) -> list[ProvenSentence]:
    """Return the sentences that the value is based on, in their order.

    A value is based on a sentence that shares a quote or a name with it, and on what that sentence
    is based on in the same way. Names of the question say nothing: every link may have them.
    """
    common = capitalised_words(question)
    shown = [value_as_text(value.value), *(each.quote for each in value.quotes)]
    reached = _marks(" \n".join(shown), value.quotes) - common
    rest = {n: _marks(each.text, each.quotes) - common for n, each in enumerate(sentences)}
    while found := [n for n, marks in rest.items() if marks & reached]:
        reached = reached.union(*(rest.pop(n) for n in found))
    return [each for n, each in enumerate(sentences) if n not in rest]


def _marks(text: str, quotes: Iterable[ProvenQuote]) -> frozenset[_Mark]:
    places = ((each.source_id, each.start, each.end) for each in quotes)
    return frozenset((*capitalised_words(text), *places))
