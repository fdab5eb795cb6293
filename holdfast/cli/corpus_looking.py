"""What `corpus list` and `corpus search` do; neither changes anything."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime

from holdfast.cli.corpus_words import checked_filter
from holdfast.cli.installation import ask, attached
from holdfast.cli.output import console, print_json, print_text, printable, say, short, table
from holdfast.embeddings import opened_embedder
from models.base import Frozen
from models.corpus import SearchMode
from models.errors import BadInput, NotFound
from storage.corpus import Corpus
from storage.corpus_listing import (
    CollectionCounts,
    DocumentCounts,
    collection_counts,
    document_counts,
)
from storage.database import Database
from tools.corpus_finding import CorpusPassage, Finding, Found

_SHOWN = 300


class VectorLine(Frozen):
    """How many passages have a vector of a model."""

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
    """A document in the list of a collection's."""

    address: str
    title: str
    passages: int
    size_bytes: int
    added_at: datetime
    metadata: Mapping[str, str | list[str]]
    origin: str


class SearchLines(Frozen):
    """What a search found and how it searched."""

    collection: str
    mode: SearchMode
    note: str
    passages: tuple[CorpusPassage, ...]


def list_command(collection: str | None, *, json_output: bool) -> None:
    if collection is None:
        _list_collections(json_output=json_output)
        return

    async def look(database: Database) -> Sequence[DocumentCounts]:
        found = await document_counts(database, collection)
        if not found:
            raise NotFound(_unknown(collection, await Corpus(database).collections()))
        return found

    lines = [DocumentLine(**each._asdict()) for each in ask(lambda here: look(here.db))]
    if json_output:
        print_json(lines)
        return
    rows = [
        (each.address, short(each.title, 60), each.passages, _size(each.size_bytes),
         f"{each.added_at:%Y-%m-%d %H:%M}")
        for each in lines
    ]  # fmt: skip
    console().print(table(("document", "title", "passages", "size", "added"), rows))


def search_command(
    query: str,
    collection: str | None,
    mode: SearchMode | None,
    limit: int,
    filters: Sequence[str],
    *,
    json_output: bool,
) -> None:
    where = checked_filter(filters)

    async def work() -> tuple[str, Found]:
        async with (
            attached(needs_temporal=False) as holdfast,
            opened_embedder(holdfast.settings) as embedder,
        ):
            corpus = Corpus(holdfast.db)
            name = _chosen(collection, await corpus.collections())
            finding = Finding(corpus, embedder)
            return name, await finding.find(name, query, limit, mode=mode, where=where)

    name, found = asyncio.run(work())
    passages = tuple(CorpusPassage.of(each, score) for each, score in found.hits)
    if json_output:
        print_json(
            SearchLines(collection=name, mode=found.mode, note=found.note, passages=passages)
        )
        return
    for each in passages:
        place = " > ".join(part for part in (each.title, each.heading) if part)
        print_text(printable(f"{each.address}  {place}  ({each.score:.3f})"))
        print_text(printable(f"  {short(each.text, _SHOWN)}\n"))
    say(f"{len(passages)} found by {found.mode} search in {name}")
    if found.note:
        say(f"note: {found.note}")


def _list_collections(*, json_output: bool) -> None:
    lines = [_line(each) for each in ask(lambda here: collection_counts(here.db))]
    if json_output:
        print_json(lines)
        return
    rows = [
        (each.name, each.documents, each.passages, _vectors(each), _size(each.size_bytes),
         f"{each.last_added_at:%Y-%m-%d %H:%M}")
        for each in lines
    ]  # fmt: skip
    columns = ("collection", "documents", "passages", "vectors", "size", "last added")
    console().print(table(columns, rows))


def _line(counts: CollectionCounts) -> CollectionLine:
    vectors = tuple(VectorLine(**each._asdict()) for each in counts.vectors)
    return CollectionLine(**counts._asdict() | {"vectors": vectors})


def _vectors(line: CollectionLine) -> str:
    return ", ".join(f"{each.passages:,} {each.model}" for each in line.vectors) or "none"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MB"


def _chosen(collection: str | None, known: Sequence[str]) -> str:
    """The collection that is meant; nobody need name the only one."""
    if collection is None:
        if len(known) == 1:
            return known[0]
        raise BadInput(f"say which with --collection; there is {', '.join(known) or 'none yet'}")
    if collection not in known:
        raise NotFound(_unknown(collection, known))
    return collection


def _unknown(collection: str, known: Sequence[str]) -> str:
    listed = ", ".join(known) or "none yet"
    return f"there is no collection {collection!r}; collections: {listed}"
