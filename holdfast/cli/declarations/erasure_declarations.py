"""Declare the commands that erase jobs and owners, and that list the receipts."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption


def erase(
    job: Annotated[
        str | None, typer.Argument(metavar="[JOB]", help="The id of a job, or its beginning.")
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(help="Erase the keys, jobs, collections, uploads and webhooks of this owner."),
    ] = None,
    with_follow_ups: Annotated[
        bool,
        typer.Option("--with-follow-ups", help="Also erase the jobs that follow this one."),
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Erase a job or an owner everywhere, ending jobs that run, and print a receipt."""
    from holdfast.cli.commands.erasure_commands import erase_command

    erase_command(job, owner, with_follow_ups=with_follow_ups, json_output=json_output)


def erasures(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50, json_output: JsonOption = False
) -> None:
    """List the receipts of erasures, newest first."""
    from holdfast.cli.commands.erasure_commands import erasures_command

    erasures_command(limit, json_output=json_output)
