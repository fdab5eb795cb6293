"""Declare the commands that back up and restore the installation's data."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JsonOption

BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the backup.")]


def backup(file: BackupFile, json_output: JsonOption = False) -> None:
    """Write all jobs, evidence and documents to a file; jobs go on meanwhile."""
    from holdfast.cli.commands.backup_commands import backup_command

    backup_command(file, json_output=json_output)


def restore(
    file: BackupFile,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the jobs and documents that are there.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Fill the embedded PostgreSQL from a backup; `holdfast up` then continues the jobs."""
    from holdfast.cli.commands.backup_commands import restore_command

    restore_command(file, replaces=replace, json_output=json_output)
