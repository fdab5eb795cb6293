"""Declare the commands that pause, resume, cancel, retry, steer and answer a job."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption, SettingsOption


def pause(job: JobArgument, json_output: JsonOption = False) -> None:
    """Start no more tasks of a job; running tasks finish."""
    from holdfast.cli.commands.jobs.job_control_commands import pause_command

    pause_command(job, json_output=json_output)


def resume(
    job: JobArgument, settings: SettingsOption = None, json_output: JsonOption = False
) -> None:
    """Continue a paused, failed, cancelled or lost job with everything it has found."""
    from holdfast.planning.strategies.written_settings import parse_setting_changes

    changes = parse_setting_changes(settings or ())
    from holdfast.cli.commands.jobs.job_control_commands import resume_command

    resume_command(job, changes, json_output=json_output)


def cancel(job: JobArgument, json_output: JsonOption = False) -> None:
    """Stop a job and its calls in flight; its findings are kept."""
    from holdfast.cli.commands.jobs.job_control_commands import cancel_command

    cancel_command(job, json_output=json_output)


def retry(
    job: JobArgument,
    tasks: Annotated[
        list[str], typer.Argument(metavar="TASK...", help="The tasks' ids, such as T3.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would run again.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Run tasks and the tasks that depend on them again; everything else is kept."""
    from holdfast.cli.commands.jobs.job_control_commands import retry_command

    retry_command(job, tasks, dry_run=dry_run, json_output=json_output)


def steer(
    job: JobArgument,
    guidance: Annotated[str, typer.Argument(help="The guidance; - reads it from standard input.")],
    json_output: JsonOption = False,
) -> None:
    """Give guidance for a job's next planning."""
    from holdfast.cli.options.text_options import read_guidance

    guidance = read_guidance(guidance)
    from holdfast.cli.commands.jobs.job_control_commands import steer_command

    steer_command(job, guidance, json_output=json_output)


def answer(
    job: JobArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[N] [ANSWER...]",
            help="The question's number if several are open, and the answer; - reads it.",
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Answer a question of a job: about its plan, a result, its budget, or from an agent."""
    from holdfast.cli.commands.jobs.question_commands import answer_command

    answer_command(job, tuple(words or ()), json_output=json_output)
