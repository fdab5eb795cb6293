"""Declare the commands `keys create`, `list`, `rotate`, `revoke`, and `audit`."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption
from holdfast.models.access.access_scopes import Scope

app = typer.Typer(
    help="API keys of other people and programs: create, list, rotate, revoke.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
KeyArgument = Annotated[str, typer.Argument(metavar="ID", help="As `keys list` shows it.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, such as laptop.")],
    owner: Annotated[
        str | None,
        typer.Option(help="Whose jobs and collections it makes and sees; by default yours."),
    ] = None,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="Repeated; by default read, ask and steer.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it is valid.")] = 365,
    json_output: JsonOption = False,
) -> None:
    """Make an API key and print it once."""
    from holdfast.cli.commands.access_commands import create_key_command

    create_key_command(name, owner, scope or (), days, json_output=json_output)


@app.command("list")
def list_keys(json_output: JsonOption = False) -> None:
    """List the keys, without their secrets."""
    from holdfast.cli.commands.access_commands import list_keys_command

    list_keys_command(json_output=json_output)


@app.command()
def rotate(
    key: KeyArgument,
    overlap_hours: Annotated[
        int, typer.Option(min=0, max=720, help="How long the old key stays valid.")
    ] = 24,
    json_output: JsonOption = False,
) -> None:
    """Make another key for the same use, and print it once."""
    from holdfast.cli.commands.access_commands import rotate_key_command

    rotate_key_command(key, overlap_hours, json_output=json_output)


@app.command()
def revoke(key: KeyArgument, json_output: JsonOption = False) -> None:
    """Refuse a key from now on."""
    from holdfast.cli.commands.access_commands import revoke_key_command

    revoke_key_command(key, json_output=json_output)


def audit(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    actor: Annotated[str | None, typer.Option(help="Only what this sender did.")] = None,
    resource: Annotated[
        str | None, typer.Option(help="Only paths with this part, such as a job's id.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """List who did what over the HTTP API and with keys, newest first."""
    from holdfast.cli.commands.access_commands import audit_command

    audit_command(limit, actor, resource, json_output=json_output)
