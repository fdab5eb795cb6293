"""Declare the commands `corpus add`, `list`, `search` and `remove` with their options."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption
from holdfast.models.corpus.search_language import search_language
from holdfast.models.corpus.search_mode import SearchMode

app = typer.Typer(
    help="Collections of documents: add, list, search, remove.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta", metavar="KEY=VALUE", help="Metadata of every document; `--filter` can select it."
    ),
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only documents with this metadata; repeated, either value; date=2020..2021-06 is a "
        "range.",
    ),
]


@app.command()
def add(
    path: Annotated[Path, typer.Argument(metavar="FOLDER_OR_FILE")],
    collection: Annotated[
        str | None, typer.Option(help="Its name; by default made from the folder's name.")
    ] = None,
    meta: MetadataOption = None,
    language: Annotated[
        str | None,
        typer.Option(help="The language of the words of the whole collection, such as german."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    r"""Read new and changed documents; embed them if \[embeddings] names a model."""
    from holdfast.cli.options.corpus_options import check_path, parse_pairs
    from holdfast.corpus.collection_names import checked_collection_name

    metadata = parse_pairs("--meta", meta or ())
    chosen = None if language is None else search_language(language)
    collection = None if collection is None else checked_collection_name(collection)
    check_path(path)
    from holdfast.cli.commands.corpus.corpus_change_commands import add_documents_command
    from holdfast.corpus.folder_ingestion import IngestOptions

    options = IngestOptions(metadata=metadata, replaces_collection=False, language=chosen)
    raise typer.Exit(add_documents_command(path, collection, options, json_output=json_output))


@app.command("list")
def list_collections(
    collection: Annotated[str | None, typer.Argument(metavar="[COLLECTION]")] = None,
    json_output: JsonOption = False,
) -> None:
    """List the collections, or the documents of one."""
    from holdfast.cli.commands.corpus.corpus_view_commands import list_collections_command

    list_collections_command(collection, json_output=json_output)


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS")],
    collection: Annotated[
        str | None, typer.Option(help="Needed if there are several collections.")
    ] = None,
    mode: Annotated[
        SearchMode | None, typer.Option(help="By default hybrid if there are vectors.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 6,
    filters: FilterOption = None,
    json_output: JsonOption = False,
) -> None:
    """Search a collection as jobs do."""
    from holdfast.cli.options.corpus_options import parse_filter

    where = parse_filter(filters or ())
    from holdfast.cli.commands.corpus.corpus_view_commands import search_corpus_command

    search_corpus_command(" ".join(words), collection, mode, limit, where, json_output=json_output)


@app.command()
def remove(
    collection: Annotated[str, typer.Argument(metavar="COLLECTION")],
    address: Annotated[
        str | None, typer.Argument(metavar="[ADDRESS]", help="One document of the collection.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Remove a collection or one document; jobs keep what they found in it."""
    from holdfast.cli.commands.corpus.corpus_change_commands import remove_documents_command

    remove_documents_command(collection, address, is_sure=yes, json_output=json_output)
