"""List and search collections of documents, with errors that name the collections there are."""

from collections.abc import Sequence

from holdfast.client import Holdfast
from holdfast.configuration.embedding_settings import embedding_model_name, open_embedder
from holdfast.configuration.rerank_settings import open_reranker
from holdfast.corpus.collection_names import check_collection
from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.corpus.search_language import SearchLanguage
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.views.collection_views import CollectionLine, DocumentLine, VectorLine
from holdfast.storage.corpus.collection_queries import (
    CollectionCounts,
    collection_counts,
    document_counts,
)
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import CorpusPassage, CorpusRetrieval


class SearchListing(Frozen):
    """The passages that a search found, and how it searched."""

    collection: str
    mode: SearchMode
    note: str
    passages: tuple[CorpusPassage, ...]


async def list_collections(holdfast: Holdfast) -> list[CollectionLine]:
    """All collections by name, with counts, sizes, dates and the state of their vectors.

    Raises:
        BadConfiguration: the table [embeddings] is wrong.
    """
    model = embedding_model_name(holdfast.settings)
    return [_line(counts, model) for counts in await collection_counts(holdfast.db)]


async def list_documents(holdfast: Holdfast, collection: str) -> list[DocumentLine]:
    """The documents of a collection by address.

    Raises:
        NotFound: there is no such collection; the message lists all collections.
    """
    documents = await document_counts(holdfast.db, collection)
    if not documents:
        check_collection(collection, await CorpusStore(holdfast.db).collections())
    return [DocumentLine(**counts._asdict()) for counts in documents]


async def search_collection(
    holdfast: Holdfast,
    collection: str | None,
    query: str,
    *,
    limit: int,
    mode: SearchMode | None = None,
    where: MetadataFilter | None = None,
) -> SearchListing:
    """The best passages of a collection, found as jobs find them; without a name, of the only one.

    Raises:
        NotFound: there is no such collection; the message lists all collections.
        BadInput: no collection was named and there are several, or the filter or mode cannot be
            used.
    """
    async with (
        open_embedder(holdfast.settings) as embedder,
        open_reranker(holdfast.settings.config_file) as reranker,
    ):
        corpus = CorpusStore(holdfast.db)
        name = _select_collection(collection, await corpus.collections())
        retrieval = CorpusRetrieval(corpus, embedder, reranker)
        result = await retrieval.find(name, query, limit, mode=mode, where=where or {})
    passages = tuple(CorpusPassage.of(hit, score) for hit, score in result.hits)
    return SearchListing(collection=name, mode=result.mode, note=result.note, passages=passages)


def _line(counts: CollectionCounts, model: str | None) -> CollectionLine:
    vectors = tuple(VectorLine(**vector._asdict()) for vector in counts.vectors)
    embedded = sum(vector.passages for vector in vectors if vector.model == model)
    left = max(0, counts.passages - embedded) if model else 0
    is_complete = model is not None and embedded > 0 and not left
    added = {
        "language": SearchLanguage(counts.language),
        "vectors": vectors,
        "search": SearchMode.HYBRID if is_complete else SearchMode.KEYWORD,
        "without_vector": left,
    }
    return CollectionLine(**counts._asdict() | added)


def _select_collection(name: str | None, collections: Sequence[str]) -> str:
    """The named collection, or the only one there is."""
    if name is None:
        if len(collections) == 1:
            return collections[0]
        listed = ", ".join(collections) or "none yet"
        raise BadInput(f"name the collection to search; collections: {listed}")
    check_collection(name, collections)
    return name
