"""Give the collections of each owner a name of their own.

A key's collection `contracts` is stored as `OWNER/contracts`, so owners share no names. Collections
that begin with `shared/` are read by every owner. The installation's token sees all by full name.
"""

from dataclasses import dataclass

from holdfast.api.access.callers import Caller
from holdfast.corpus.collection_names import check_collection, checked_collection_name
from holdfast.models.views.collection_views import CollectionLine
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.corpus_store import CorpusStore

SHARED_PREFIX = "shared/"


@dataclass(frozen=True)
class OwnedCollections:
    """The collections that a caller may use."""

    caller: Caller

    def readable_name(self, name: str) -> str:
        """The stored name of a collection that the caller reads.

        Raises:
            BadInput: the name cannot name a collection.
        """
        if name.startswith(SHARED_PREFIX):
            return checked_collection_name(name)
        return self.writable_name(name)

    def writable_name(self, name: str) -> str:
        """The stored name of a collection that the caller fills.

        Raises:
            BadInput: the name cannot name a collection.
        """
        name = checked_collection_name(name)
        return name if self.caller.sees_all else f"{self.caller.owner}/{name}"

    async def existing_name(self, db: Database, name: str, *, reads: bool = True) -> str:
        """The stored name of a collection that there is.

        Raises:
            BadInput: the name cannot name a collection.
            NotFound: the caller sees no such collection; the message lists those that it sees.
        """
        stored = self.readable_name(name) if reads else self.writable_name(name)
        seen = [each for each in await CorpusStore(db).collections() if self.sees(each)]
        check_collection(self.shown_name(stored), [self.shown_name(each) for each in seen])
        return stored

    def visible(self, lines: list[CollectionLine]) -> list[CollectionLine]:
        """The caller's collections under the names that the caller uses."""
        return [
            line.model_copy(update={"name": self.shown_name(line.name)})
            for line in lines
            if self.sees(line.name)
        ]

    def shown_name(self, stored: str) -> str:
        """The name of a collection as the caller uses it."""
        return stored if self.caller.sees_all else stored.removeprefix(self._prefix)

    def sees(self, stored: str) -> bool:
        """True if the caller reads the collection with this stored name."""
        return self.caller.sees_all or stored.startswith((self._prefix, SHARED_PREFIX))

    @property
    def _prefix(self) -> str:
        return f"{self.caller.owner}/"
