"""Implement `holdfast corpus list` and `holdfast corpus search`."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from holdfast.cli.installation_access import run_with_client
from holdfast.cli.options.corpus_options import check_collection
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import (
    console,
    count_with_noun,
    print_json,
    print_progress,
    print_text,
    shortened_line,
)
from holdfast.client import Holdfast
from holdfast.configuration.embedding_settings import open_embedder
from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.passage_titles import title_with_headings
from holdfast.storage.corpus.collection_queries import (
    CollectionCounts,
    DocumentCounts,
    collection_counts,
    document_counts,
)
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.corpus.corpus_retrieval import CorpusPassage, CorpusRetrieval, RetrievalResult

_MAX_PASSAGE_LENGTH = 300


class VectorLine(Frozen):
    """The number of passages that have a vector of a model."""

    model: str
    dimension: int
    passages: int


class CollectionLine(Frozen):
    """A collection in the list."""

    name: str
    documents: int
    passages: int
    size_bytes: int
    vectors: tuple[VectorLine, ...]
    first_added_at: datetime
    last_added_at: datetime


class DocumentLine(Frozen):
    """A document in the list of a collection."""

    address: str
    title: str
    passages: int
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str


class SearchListing(Frozen):
    """The passages that a search found, and how it searched."""

    collection: str
    mode: SearchMode
    note: str
    passages: tuple[CorpusPassage, ...]


def list_collections_command(collection: str | None, *, json_output: bool) -> None:
    """Print the collections, or the documents of one collection."""
    if collection is None:
        _list_collections(json_output=json_output)
    else:
        _list_documents(collection, json_output=json_output)


def _list_documents(collection: str, *, json_output: bool) -> None:
    async def read(holdfast: Holdfast) -> Sequence[DocumentCounts]:
        documents = await document_counts(holdfast.db, collection)
        if not documents:
            check_collection(collection, await CorpusStore(holdfast.db).collections())
        return documents

    lines = [DocumentLine(**counts._asdict()) for counts in run_with_client(read)]
    if json_output:
        print_json(lines)
        return
    rows = [
        (
            line.address,
            shortened_line(line.title, 60),
            line.passages,
            _size(line.size_bytes),
            f"{line.added_at:%Y-%m-%d %H:%M}",
        )
        for line in lines
    ]
    console().print(plain_table(("document", "title", "passages", "size", "added"), rows))


def search_corpus_command(
    query: str,
    collection: str | None,
    mode: SearchMode | None,
    limit: int,
    where: MetadataFilter,
    *,
    json_output: bool,
) -> None:
    """Search a collection and print the passages."""

    async def search(holdfast: Holdfast) -> tuple[str, RetrievalResult]:
        async with open_embedder(holdfast.settings) as embedder:
            corpus = CorpusStore(holdfast.db)
            name = _select_collection(collection, await corpus.collections())
            retrieval = CorpusRetrieval(corpus, embedder)
            return name, await retrieval.find(name, query, limit, mode=mode, where=where)

    name, result = run_with_client(search)
    passages = tuple(CorpusPassage.of(hit, score) for hit, score in result.hits)
    if json_output:
        print_json(
            SearchListing(collection=name, mode=result.mode, note=result.note, passages=passages)
        )
        return
    for passage in passages:
        place = title_with_headings(passage.title, passage.heading)
        print_text(f"{passage.address}  {place}  ({passage.score:.3f})")
        print_text(f"  {shortened_line(passage.text, _MAX_PASSAGE_LENGTH)}\n")
    print_progress(
        f"{count_with_noun(len(passages), 'passage')} found by {result.mode} search in {name}"
    )
    if result.note:
        print_progress(f"note: {result.note}")


def _list_collections(*, json_output: bool) -> None:
    lines = [
        _line(counts) for counts in run_with_client(lambda holdfast: collection_counts(holdfast.db))
    ]
    if json_output:
        print_json(lines)
        return
    rows = [
        (
            line.name,
            line.documents,
            line.passages,
            _vectors(line),
            _size(line.size_bytes),
            f"{line.last_added_at:%Y-%m-%d %H:%M}",
        )
        for line in lines
    ]
    columns = ("collection", "documents", "passages", "vectors", "size", "last added")
    console().print(plain_table(columns, rows))


def _line(counts: CollectionCounts) -> CollectionLine:
    vectors = tuple(VectorLine(**vector._asdict()) for vector in counts.vectors)
    return CollectionLine(**counts._asdict() | {"vectors": vectors})


def _vectors(line: CollectionLine) -> str:
    return ", ".join(f"{vector.passages:,} {vector.model}" for vector in line.vectors) or "none"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MB"


def _select_collection(name: str | None, collections: Sequence[str]) -> str:
    """The named collection, or the only one there is."""
    if name is None:
        if len(collections) == 1:
            return collections[0]
        listed = ", ".join(collections) or "none yet"
        raise BadInput(f"choose a collection with --collection; collections: {listed}")
    check_collection(name, collections)
    return name
