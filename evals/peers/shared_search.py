"""Search the documents for every contestant in the same way: Holdfast's search by words."""

from dataclasses import dataclass
from typing import NamedTuple

from holdfast.planning.loop.passage_numbers import passage_title
from holdfast.storage.corpus.corpus_store import CorpusStore


class FoundPassage(NamedTuple):
    """A passage as a contestant is shown it; its title is what the contestant cites."""

    title: str
    text: str


@dataclass(frozen=True)
class SharedSearch:
    """The search over the stored collections."""

    corpus: CorpusStore

    async def find(self, collection: str, query: str, limit: int) -> list[FoundPassage]:
        """Return the best passages."""
        hits = await self.corpus.search(collection, query, limit)
        return [FoundPassage(passage_title(each.passage), each.passage.text) for each in hits]
