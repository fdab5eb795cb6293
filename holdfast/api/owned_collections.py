"""Give the collections of each owner a name of their own.

A key's collection `contracts` is stored as `OWNER/contracts`, so owners share no names. Collections
that begin with `shared/` are read by every owner. The installation's token sees all by full name.
"""

from dataclasses import dataclass

from holdfast.api.access.callers import Caller
from holdfast.corpus.collection_names import checked_collection_name
from holdfast.models.views.collection_views import CollectionLine

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

    def visible(self, lines: list[CollectionLine]) -> list[CollectionLine]:
        """The caller's collections under the names that the caller uses."""
        if self.caller.sees_all:
            return lines
        return [
            line.model_copy(update={"name": line.name.removeprefix(self._prefix)})
            for line in lines
            if line.name.startswith((self._prefix, SHARED_PREFIX))
        ]

    @property
    def _prefix(self) -> str:
        return f"{self.caller.owner}/"
