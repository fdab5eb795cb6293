"""Plain keyword search with the question, which cites as many passages as the compared job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.storage.corpus.corpus_records import PassageHit


class CitedAmount(NamedTuple):
    """How much was cited: distinct passages, and the distinct documents that they are of."""

    passages: int
    documents: int


@dataclass(frozen=True)
class CitedPassages:
    """Distinct passages, in the order of citing."""

    passages: tuple[SourcePassage, ...] = ()

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset(each.address for each in self.passages)

    @property
    def amount(self) -> CitedAmount:
        return CitedAmount(len(self.passages), len(self.addresses))


def cite_as_much(hits: Sequence[PassageHit], amount: CitedAmount) -> CitedPassages:
    """The best hits, down to where they are no fewer passages nor documents than `amount`.

    The search may thus cite a passage more than the job, and never fewer while it has hits.
    """
    chosen = CitedPassages()
    for hit in hits:
        if _covers(chosen.amount, amount):
            break
        chosen = CitedPassages((*chosen.passages, hit.passage))
    return chosen


def _covers(one: CitedAmount, other: CitedAmount) -> bool:
    return one.passages >= other.passages and one.documents >= other.documents


def substitute_amount(cited: Sequence[CitedAmount], read: int) -> CitedAmount:
    """What the search may cite for the question of a job that cited nothing.

    As much as the jobs that cited did on average, or what the job holds as evidence if that is
    more: a job that fails must not make the search fail with it.
    """
    told = [each for each in cited if each.passages]
    passages = round(sum(each.passages for each in told) / len(told)) if told else 1
    documents = round(sum(each.documents for each in told) / len(told)) if told else 1
    return CitedAmount(max(passages, read, 1), max(documents, 1))
