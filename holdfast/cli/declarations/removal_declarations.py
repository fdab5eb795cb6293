"""Declare the commands that remove ended jobs."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption
from holdfast.models.jobs.pruning import PrunedPart


def rm(job: JobArgument, json_output: JsonOption = False) -> None:
    """Remove an ended job with all its results, calls and histories, for good."""
    from holdfast.cli.commands.jobs.removal_commands import remove_command

    remove_command(job, json_output=json_output)


def prune(
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Time since the job ended, such as 30d or 12h."),
    ] = None,
    down_to: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="The size that is left, such as 20GB; oldest first."),
    ] = None,
    part: Annotated[
        PrunedPart, typer.Option(help="Whole jobs, their raw answers, or their logs.")
    ] = PrunedPart.JOBS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the jobs, with their bytes.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    r"""Prune jobs that ended long ago, by age, size or both.

    Without an age and a size, erase the jobs whose time is over by \[retention] of holdfast.toml.
    """
    from holdfast.cli.commands.jobs.removal_commands import prune_command

    prune_command(part, older_than, down_to, is_dry_run=dry_run, json_output=json_output)
