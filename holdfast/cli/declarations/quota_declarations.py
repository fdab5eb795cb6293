"""Declare the commands `quotas set`, `list` and `remove`."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption

app = typer.Typer(
    help="What owners and keys may spend on models in a day: set, list, remove.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
OwnerOption = Annotated[str | None, typer.Option(metavar="NAME", help="The owner.")]
KeyOption = Annotated[
    str | None, typer.Option(metavar="ID", help="The key, as `keys list` shows it.")
]


@app.command("set")
def set_quota(
    owner: OwnerOption = None,
    key: KeyOption = None,
    calls: Annotated[int | None, typer.Option(min=0, help="Calls of models.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="Tokens in and out.")] = None,
    cost: Annotated[str | None, typer.Option(help="Money, such as 2.50.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Set what an owner or a key may spend in a day, which begins at midnight UTC."""
    from holdfast.cli.commands.quota_commands import set_quota_command

    set_quota_command(owner, key, calls, tokens, cost, json_output=json_output)


@app.command("list")
def list_quotas(json_output: JsonOption = False) -> None:
    """List the quotas, with what is used of them today."""
    from holdfast.cli.commands.quota_commands import list_quotas_command

    list_quotas_command(json_output=json_output)


@app.command()
def remove(
    owner: OwnerOption = None, key: KeyOption = None, json_output: JsonOption = False
) -> None:
    """Remove the quota of an owner or a key."""
    from holdfast.cli.commands.quota_commands import remove_quota_command

    remove_quota_command(owner, key, json_output=json_output)
