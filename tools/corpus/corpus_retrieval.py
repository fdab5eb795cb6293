"""Search the local corpus by words, by meaning or by both, and report the mode used."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

from holdfast.models.calls.tool_signatures import SourcePassage, ToolPassage
from holdfast.models.corpus.search_criteria import MetadataFilter, QueryVector
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.errors import BadInput, HoldfastError, ModelUnusable

ScoredPassages = Sequence[tuple[SourcePassage, float]]
_NO_EMBEDDINGS = (
    "no embedding model is configured: add a table [embeddings] to holdfast.toml, as "
    "docs/corpus.md says"
)
_MOST_WORDS = 8
_LONGEST_WORD = 40
_WORDS_OF_GRAMMAR = """
also ever many may might much must per shall still upon whether within would yet
"""
_SAYING_NOTHING = frozenset(_WORDS_OF_GRAMMAR.split())
"""Words whose absence tells nobody how to ask better; the text search leaves out the commonest."""


class CorpusPassage(ToolPassage):
    """A passage, verbatim, with its place; `score` is 0 where nothing was searched for."""

    score: float = 0

    @classmethod
    def of(cls, passage: SourcePassage, score: float = 0) -> Self:
        """Return the passage in a tool's form, which does not name the tool itself."""
        return cls(**passage.model_dump(exclude={"tool", "via"}), score=score)


class PassageStore(Protocol):
    """The storage of the collections."""

    async def search(
        self, collection: str, query: str, limit: int, *, where: MetadataFilter
    ) -> ScoredPassages:
        """Return the best passages by words with their scores, best first; may be empty.

        Raises:
            BadInput: `where` names metadata that no document has.
        """
        ...

    async def nearest(
        self, collection: str, vector: QueryVector, limit: int, *, where: MetadataFilter
    ) -> ScoredPassages:
        """As `search`, by meaning."""
        ...

    async def fused(
        self, collection: str, query: str, vector: QueryVector, limit: int, *, where: MetadataFilter
    ) -> ScoredPassages:
        """As `search`, by both."""
        ...

    async def absent_words(self, collection: str, query: str) -> Sequence[str]:
        """Return the words of the query that no passage has, in the order of the query."""
        ...

    async def dimension_of(self, collection: str, model: str) -> int:
        """Return the dimension of the collection's vectors of the model; 0 if it has none."""
        ...

    async def vectors_missing(self, collection: str, model: str) -> int:
        """Return how many passages have no vector of the model; some have one."""
        ...

    async def read(self, collection: str, address: str) -> Sequence[SourcePassage]:
        """Return a document's passages in order.

        Raises:
            NotFound: there is no such document; the message names similar ones.
        """
        ...


class QueryEmbedder(Protocol):
    """Turns a query into a vector; it may fail like every model."""

    @property
    def model(self) -> str: ...

    async def query(self, text: str) -> QueryVector: ...


class PassageReranker(Protocol):
    """Orders what a search found; it may fail like every model."""

    @property
    def candidates(self) -> int:
        """How many passages it orders."""
        ...

    async def order(self, query: str, texts: Sequence[str]) -> Sequence[tuple[int, float]]:
        """Return the places of the texts with their scores, best first."""
        ...


class RetrievalResult(NamedTuple):
    """The hits of a search, its mode, and a note: its restrictions, and words that are nowhere."""

    hits: ScoredPassages
    mode: SearchMode
    note: str = ""


@dataclass(frozen=True)
class CorpusRetrieval:
    """Searches a store; without an embedder only by words."""

    store: PassageStore
    embedder: QueryEmbedder | None = None
    reranker: PassageReranker | None = None

    async def find(
        self,
        collection: str,
        query: str,
        limit: int,
        *,
        mode: SearchMode | None,
        where: MetadataFilter,
    ) -> RetrievalResult:
        """Return the best passages; without a mode by both if each passage has a vector.

        With a reranker, more are found, and the best in its order are given. If the embedding
        fails, a hybrid search uses only words; if the reranker fails, the passages keep their
        order. Both are said in the note.

        Raises:
            BadInput: the mode needs vectors that are missing, or `where` is invalid.
            HoldfastError: the embedding of a semantic search failed; Passing if that is temporary.
        """
        if self.reranker is None:
            return await self._found(collection, query, limit, mode, where)
        wanted = max(limit, self.reranker.candidates)
        found = await self._found(collection, query, wanted, mode, where)
        if len(found.hits) < 2:
            return found
        texts = [f"{passage.title}\n{passage.text}" for passage, _ in found.hits]
        try:
            order = await self.reranker.order(query, texts)
        except HoldfastError as error:
            note = "; ".join(filter(None, (f"in the order of the search: {error}", found.note)))
            return found._replace(hits=found.hits[:limit], note=note)
        ranked = [(found.hits[place][0], score) for place, score in order[:limit]]
        return found._replace(hits=ranked)

    async def _found(
        self,
        collection: str,
        query: str,
        limit: int,
        mode: SearchMode | None,
        where: MetadataFilter,
    ) -> RetrievalResult:
        if mode is SearchMode.KEYWORD:
            return await self._by_words(collection, query, limit, where, "")
        try:
            vector = await self._embedded(collection, query, needs_all=mode is None)
        except HoldfastError as error:
            if mode is SearchMode.SEMANTIC:
                raise
            # No note if the caller asked for no mode and no embedding is configured.
            is_expected = mode is None and isinstance(error, _MissingVectors | _VectorsUnderWay)
            note = "" if is_expected else f"searched by words alone: {error}"
            return await self._by_words(collection, query, limit, where, note)
        if mode is SearchMode.SEMANTIC:
            return RetrievalResult(
                await self.store.nearest(collection, vector, limit, where=where), mode
            )
        hits = await self.store.fused(collection, query, vector, limit, where=where)
        return RetrievalResult(hits, SearchMode.HYBRID, await self._absent(collection, query))

    async def _by_words(
        self, collection: str, query: str, limit: int, where: MetadataFilter, note: str
    ) -> RetrievalResult:
        hits = await self.store.search(collection, query, limit, where=where)
        notes = (note, await self._absent(collection, query))
        return RetrievalResult(hits, SearchMode.KEYWORD, "; ".join(filter(None, notes)))

    async def _absent(self, collection: str, query: str) -> str:
        """Return which words of the query are nowhere, so that the next query does without them.

        How many passages have one of the words would say little: nearly all have one.
        """
        absent = await self.store.absent_words(collection, query)
        words = [each for each in absent if each.casefold() not in _SAYING_NOTHING]
        shown = [f"“{word[:_LONGEST_WORD]}”" for word in words[:_MOST_WORDS]]
        more = ["..."] if len(words) > _MOST_WORDS else []
        return f"no passage has {', '.join([*shown, *more])}" if words else ""

    async def _embedded(self, collection: str, query: str, *, needs_all: bool) -> QueryVector:
        """Return the query's vector, of the same model and dimension as the collection's."""
        if self.embedder is None:
            raise _MissingVectors(_NO_EMBEDDINGS)
        model = self.embedder.model
        dimension = await self.store.dimension_of(collection, model)
        if dimension == 0:
            raise _MissingVectors(
                f"no passage of the collection has a vector of model {model!r} yet: workers make "
                "them while they have time; if none comes, add the documents again, which says "
                "so if PostgreSQL lacks pgvector"
            )
        if needs_all and (missing := await self.store.vectors_missing(collection, model)):
            # A search by both would prefer the passages that have a vector.
            raise _VectorsUnderWay(f"{missing:,} passages have no vector yet")
        vector = await self.embedder.query(query)
        if len(vector.values) != dimension:
            raise ModelUnusable(
                f"embedding model {model!r} answered with {len(vector.values)} numbers, the "
                f"vectors of the collection have {dimension}: correct [embeddings], or "
                "remove the collection and add it again"
            )
        return vector


class _MissingVectors(BadInput):
    """The collection has no vectors to compare with."""


class _VectorsUnderWay(BadInput):
    """Passages of the collection have no vector yet."""
