"""The commands `corpus add`, `list`, `search` and `remove` with their options."""

from pathlib import Path
from typing import Annotated

import typer

from models.corpus import SearchMode

app = typer.Typer(
    help="Collections of documents: add, list, search, remove.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON with stable field names.")]
Meta = Annotated[
    list[str] | None,
    typer.Option("--meta", metavar="KEY=VALUE", help="Said of every document; filter by it later."),
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only documents that say so; again for another value; date=2020..2021-06 is a range.",
    ),
]


@app.command()
def add(
    path: Annotated[Path, typer.Argument(metavar="FOLDER_OR_FILE")],
    collection: Annotated[
        str | None, typer.Option(help="Its name; made from the folder's if left out.")
    ] = None,
    meta: Meta = None,
    json_output: Json = False,
) -> None:
    """Read new and changed documents; embed them where [embeddings] names a model."""
    from holdfast.cli.corpus_changing import add_command

    raise typer.Exit(add_command(path, collection, tuple(meta or ()), json_output=json_output))


@app.command("list")
def list_collections(
    collection: Annotated[str | None, typer.Argument(metavar="[COLLECTION]")] = None,
    json_output: Json = False,
) -> None:
    """List the collections, or the documents of one."""
    from holdfast.cli.corpus_looking import list_command

    list_command(collection, json_output=json_output)


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS")],
    collection: Annotated[str | None, typer.Option(help="Needed where there are several.")] = None,
    mode: Annotated[
        SearchMode | None, typer.Option(help="Left out: hybrid where there are vectors.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 6,
    filters: Filter = None,
    json_output: Json = False,
) -> None:
    """Search a collection as jobs do."""
    from holdfast.cli.corpus_looking import search_command

    search_command(
        " ".join(words), collection, mode, limit, tuple(filters or ()), json_output=json_output
    )


@app.command()
def remove(
    collection: Annotated[str, typer.Argument(metavar="COLLECTION")],
    address: Annotated[
        str | None, typer.Argument(metavar="[ADDRESS]", help="One document of it.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json_output: Json = False,
) -> None:
    """Remove a collection, or one document; what jobs found in it stays with the jobs."""
    from holdfast.cli.corpus_changing import remove_command

    remove_command(collection, address, is_sure=yes, json_output=json_output)
