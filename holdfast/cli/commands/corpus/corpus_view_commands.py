"""Implement `holdfast corpus list` and `holdfast corpus search`."""

from holdfast.cli.installation_access import run_with_client
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
from holdfast.corpus.collection_lookup import (
    SearchListing,
    list_collections,
    list_documents,
    search_collection,
)
from holdfast.models.corpus.search_criteria import MetadataFilter
from holdfast.models.corpus.search_mode import SearchMode
from holdfast.models.text.passage_titles import title_with_headings
from holdfast.models.views.collection_views import CollectionLine

_MAX_PASSAGE_LENGTH = 300


def list_collections_command(collection: str | None, *, json_output: bool) -> None:
    """Print the collections, or the documents of one collection."""
    if collection is None:
        _list_collections(json_output=json_output)
    else:
        _list_documents(collection, json_output=json_output)


def _list_documents(collection: str, *, json_output: bool) -> None:
    lines = run_with_client(lambda holdfast: list_documents(holdfast, collection))
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

    async def search(holdfast: Holdfast) -> SearchListing:
        return await search_collection(
            holdfast, collection, query, limit=limit, mode=mode, where=where
        )

    found = run_with_client(search)
    if json_output:
        print_json(found)
        return
    for passage in found.passages:
        place = title_with_headings(passage.title, passage.heading)
        print_text(f"{passage.address}  {place}  ({passage.score:.3f})")
        print_text(f"  {shortened_line(passage.text, _MAX_PASSAGE_LENGTH)}\n")
    print_progress(
        f"{count_with_noun(len(found.passages), 'passage')} found by {found.mode} search in "
        f"{found.collection}"
    )
    if found.note:
        print_progress(f"note: {found.note}")


def _list_collections(*, json_output: bool) -> None:
    lines = run_with_client(list_collections)
    if json_output:
        print_json(lines)
        return
    rows = [
        (
            line.name,
            line.documents,
            line.passages,
            line.language.value,
            _vectors(line),
            line.search.value,
            _size(line.size_bytes),
            f"{line.last_added_at:%Y-%m-%d %H:%M}",
        )
        for line in lines
    ]
    columns = (
        "collection",
        "documents",
        "passages",
        "language",
        "vectors",
        "search",
        "size",
        "last added",
    )
    console().print(plain_table(columns, rows))


def _vectors(line: CollectionLine) -> str:
    done = ", ".join(f"{vector.passages:,} {vector.model}" for vector in line.vectors) or "none"
    return f"{done}; {line.without_vector:,} to come" if line.without_vector else done


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:,.1f} MB"
