"""Declare the commands that work with jobs as records: fork, compare, update."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import (
    JobArgument,
    JsonOption,
    ModelOption,
    PresetOption,
    SettingsOption,
)


def fork(
    job: JobArgument,
    tasks: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="TASK", help="Run this task again; repeatable."),
    ] = None,
    settings: SettingsOption = None,
    model: ModelOption = None,
    preset: PresetOption = None,
    question_of: Annotated[
        tuple[str, str] | None,
        typer.Option("--question-of", metavar="TASK TEXT", help="Give a task another description."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run this plan; `holdfast plan JOB --yaml` prints the one to edit.",
        ),
    ] = None,
    retract: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Evidence that counts for nothing; repeatable."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would run, and its price.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Run a job again with a change, and pay only for what the change touches."""
    from holdfast.planning.strategies.written_settings import parse_setting_changes

    changes = parse_setting_changes(settings or ())
    from holdfast.cli.commands.records.fork_commands import fork_command

    fork_command(
        job,
        {
            "tasks": tuple(tasks or ()),
            "settings": changes,
            "model": model,
            "preset": preset,
            "questions": dict([question_of]) if question_of else {},
            "retract": tuple(retract or ()),
        },
        plan,
        dry_run=dry_run,
        json_output=json_output,
    )


def compare(
    first: JobArgument,
    second: Annotated[
        str, typer.Argument(metavar="JOB", help="The other job, for example a fork of the first.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Let this model match the claims that rules left over: one call, in the record of "
            "the second job.",
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Compare two jobs by answer, claims, tasks, sources, cost and time."""
    from holdfast.cli.commands.records.compare_commands import compare_command

    compare_command(first, second, model=model, json_output=json_output)


def update(
    job: JobArgument,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="AGE",
            help="Do nothing if the sources were read more recently, such as 30d or 12h ago.",
        ),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Run all searches again, to find new sources as well.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read the sources, and start no job.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Read a report's sources again, and run what depends on changed ones in a new job."""
    from holdfast.models.jobs.job_age import parse_age

    age = None if older_than is None else parse_age(older_than)
    from holdfast.cli.commands.records.update_commands import update_command

    update_command(job, age, search=search, dry_run=dry_run, json_output=json_output)
