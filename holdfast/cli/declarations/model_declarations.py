"""Declare the commands `models list` and `models check` with their options."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption

app = typer.Typer(
    help="The models of this installation: list, check.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_models(json_output: JsonOption = False) -> None:
    """List the models with endpoint, key, parameters, price and roles; calls none of them."""
    from holdfast.cli.commands.model_commands import list_models_command

    list_models_command(json_output=json_output)


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="By default all that have a table."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Ask each model in each way of structured output; four short paid calls a model."""
    from holdfast.cli.commands.model_commands import check_models_command

    check_models_command(names or (), json_output=json_output)
