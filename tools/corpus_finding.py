"""Chooses how the local corpus is searched: by words, by meaning or both; says if it cannot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

from models.corpus import MetadataFilter, QueryVector, SearchMode
from models.errors import BadInput, HoldfastError, ModelUnusable
from models.tools import ReadPassage, ToldPassage

Hits = Sequence[tuple[ReadPassage, float]]
_NO_EMBEDDINGS = (
    "no embedding model is configured: add a table [embeddings] to holdfast.toml, as "
    "docs/corpus.md says"
)


class CorpusPassage(ToldPassage):
    """A passage, verbatim, with its place; `score` is 0 where nothing was searched for."""

    score: float = 0

    @classmethod
    def of(cls, passage: ReadPassage, score: float = 0) -> Self:
        """As a tool tells it: who gave it is not for the tool to say."""
        return cls(**passage.model_dump(exclude={"tool", "via"}), score=score)


class PassageStore(Protocol):
    """Where the collections lie."""

    async def search(
        self, collection: str, query: str, limit: int, *, where: MetadataFilter
    ) -> Hits:
        """The best passages by their words with their scores, best first; perhaps none.

        Raises:
            BadInput: `where` names what no document says of itself.
        """
        ...

    async def nearest(
        self, collection: str, vector: QueryVector, limit: int, *, where: MetadataFilter
    ) -> Hits:
        """As `search`, by meaning."""
        ...

    async def fused(
        self, collection: str, query: str, vector: QueryVector, limit: int, *, where: MetadataFilter
    ) -> Hits:
        """As `search`, by both."""
        ...

    async def dimension_of(self, collection: str, model: str) -> int:
        """The dimension of the collection's vectors of the model; 0 where it has none."""
        ...

    async def read(self, collection: str, address: str) -> Sequence[ReadPassage]:
        """A document's passages in order.

        Raises:
            NotFound: there is no such document; the message names near ones.
        """
        ...


class QueryEmbedder(Protocol):
    """Turns a query into a vector, and may fail as every model does."""

    @property
    def model(self) -> str: ...

    async def query(self, text: str) -> QueryVector: ...


class Found(NamedTuple):
    """What a search found, how it searched, and what it could not do."""

    hits: Hits
    mode: SearchMode
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """Searches a store; without an embedder by words alone."""

    store: PassageStore
    embedder: QueryEmbedder | None = None

    async def find(
        self,
        collection: str,
        query: str,
        limit: int,
        *,
        mode: SearchMode | None,
        where: MetadataFilter,
    ) -> Found:
        """The best passages; without a mode by both where the collection has vectors.

        Where the embedding fails, a hybrid search goes by words alone and its note says so.

        Raises:
            BadInput: the mode needs vectors that are not there, or `where` cannot be met.
            HoldfastError: a semantic search's embedding failed; passing, if that passes.
        """
        if mode is SearchMode.KEYWORD:
            return await self._by_words(collection, query, limit, where, "")
        try:
            vector = await self._embedded(collection, query)
        except HoldfastError as error:
            if mode is SearchMode.SEMANTIC:
                raise
            # Who asked for nothing special need not hear that nothing special is set up.
            is_expected = mode is None and isinstance(error, _NoVectors)
            note = "" if is_expected else f"searched by words alone: {error}"
            return await self._by_words(collection, query, limit, where, note)
        if mode is SearchMode.SEMANTIC:
            return Found(await self.store.nearest(collection, vector, limit, where=where), mode)
        hits = await self.store.fused(collection, query, vector, limit, where=where)
        return Found(hits, SearchMode.HYBRID)

    async def _by_words(
        self, collection: str, query: str, limit: int, where: MetadataFilter, note: str
    ) -> Found:
        hits = await self.store.search(collection, query, limit, where=where)
        return Found(hits, SearchMode.KEYWORD, note)

    async def _embedded(self, collection: str, query: str) -> QueryVector:
        """The query's vector, comparable with those of the collection."""
        if self.embedder is None:
            raise _NoVectors(_NO_EMBEDDINGS)
        model = self.embedder.model
        dimension = await self.store.dimension_of(collection, model)
        if dimension == 0:
            raise _NoVectors(
                f"no passage of collection {collection!r} has a vector of model {model!r}: run "
                "`holdfast corpus add` again, which says so if PostgreSQL lacks pgvector"
            )
        vector = await self.embedder.query(query)
        if len(vector.values) != dimension:
            raise ModelUnusable(
                f"embedding model {model!r} answered with {len(vector.values)} numbers, the "
                f"vectors of collection {collection!r} have {dimension}: correct [embeddings], or "
                "remove the collection and add it again"
            )
        return vector


class _NoVectors(BadInput):
    """There is nothing to compare a query's vector with."""
