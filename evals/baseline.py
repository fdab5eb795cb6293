"""Plain keyword search with the question, made to cite as much as the job beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from models.tools import ReadPassage
from storage.corpus import Hit


class Amount(NamedTuple):
    """How much was cited: distinct passages, and the distinct documents that they are of."""

    passages: int
    documents: int


@dataclass(frozen=True)
class Cited:
    """Distinct passages, in the order of citing."""

    passages: tuple[ReadPassage, ...] = ()

    @property
    def addresses(self) -> frozenset[str]:
        return frozenset(each.address for each in self.passages)

    @property
    def amount(self) -> Amount:
        return Amount(len(self.passages), len(self.addresses))


def as_much(hits: Sequence[Hit], amount: Amount) -> Cited:
    """The best hits, down to where they are no fewer passages nor documents than `amount`.

    The search may thus cite a passage more than the job, and never fewer while it has hits.
    """
    chosen = Cited()
    for hit in hits:
        if _covers(chosen.amount, amount):
            break
        chosen = Cited((*chosen.passages, hit.passage))
    return chosen


def _covers(one: Amount, other: Amount) -> bool:
    return one.passages >= other.passages and one.documents >= other.documents


def stand_in_amount(cited: Sequence[Amount], read: int) -> Amount:
    """What the search may cite beside a job that cited nothing.

    As much as the jobs that cited did on average, or what the job holds as evidence if that is
    more: a job that fails must not make the search fail with it.
    """
    told = [each for each in cited if each.passages]
    passages = round(sum(each.passages for each in told) / len(told)) if told else 1
    documents = round(sum(each.documents for each in told) / len(told)) if told else 1
    return Amount(max(passages, read, 1), max(documents, 1))
