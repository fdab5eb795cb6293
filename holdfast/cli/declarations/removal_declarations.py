"""Declare the commands that remove ended jobs."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption


def rm(job: JobArgument, json_output: JsonOption = False) -> None:
    """Remove an ended job with all its results, calls and histories, for good."""
    from holdfast.cli.commands.jobs.removal_commands import remove_command

    remove_command(job, json_output=json_output)


def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Time since the job ended, such as 30d or 12h.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the jobs that would be removed.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Remove every job that ended before that time, as `rm` does."""
    from holdfast.cli.commands.jobs.removal_commands import prune_command
    from holdfast.jobs.job_age import parse_age

    prune_command(parse_age(older_than), is_dry_run=dry_run, json_output=json_output)
