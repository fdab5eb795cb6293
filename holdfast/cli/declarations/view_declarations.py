"""Declare the commands that show jobs, plans, calls, events and reports."""

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import JobArgument, JsonOption, PresetOption


def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    status: Annotated[str | None, typer.Option(help="Only jobs of this status.")] = None,
    preset: PresetOption = None,
    json_output: JsonOption = False,
) -> None:
    """List the newest jobs."""
    from holdfast.jobs.job_filter_check import check_job_filters

    check_job_filters(status, preset)
    from holdfast.cli.commands.jobs.job_view_commands import list_jobs_command

    list_jobs_command(limit, status, preset, json_output=json_output)


def show(job: JobArgument, json_output: JsonOption = False) -> None:
    """Show a job: its tasks, their findings, and the spending."""
    from holdfast.cli.commands.jobs.job_view_commands import show_command

    show_command(job, json_output=json_output)


def status(job: JobArgument, json_output: JsonOption = False) -> None:
    """Say what a job is doing, what blocks it, and what happens next."""
    from holdfast.cli.commands.jobs.status_commands import status_command

    status_command(job, json_output=json_output)


def report(
    job: JobArgument,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="md (the default), json, html, docx, pdf, csl, ris, bibtex or obsidian.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="First write a report of what a stopped job found.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write to this folder, or to this file; its ending chooses the format.",
        ),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Print the report of a finished job."""
    from holdfast.cli.options.report_options import checked_report_format

    chosen = checked_report_format("json" if json_output else form, out)
    if partial:
        from holdfast.cli.commands.jobs.job_control_commands import partial_report_command

        partial_report_command(job)
    if chosen.is_file:
        from holdfast.cli.commands.report_file_commands import report_file_command

        report_file_command(job, chosen, out)
        return
    from holdfast.cli.commands.jobs.report_commands import report_command

    report_command(job, chosen, out)


def figure(
    job: JobArgument,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[FIGURE]", help="The figure's id; without it all are listed."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file; its ending chooses the format.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """List the figures of a job's report, or write one to a file."""
    from holdfast.cli.commands.evidence.figure_commands import figure_command

    figure_command(job, name, out, json_output=json_output)


def questions(job: JobArgument, json_output: JsonOption = False) -> None:
    """List the questions of a job, their answers, and who answered."""
    from holdfast.cli.commands.jobs.question_commands import questions_command

    questions_command(job, json_output=json_output)


def plan(
    job: JobArgument,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show every change of the plan and its cause.")
    ] = False,
    as_yaml: Annotated[
        bool,
        typer.Option(
            "--yaml", help="Print the plan as `answer JOB edit` and `fork --plan` read it."
        ),
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Show the current plan, or how it changed."""
    from holdfast.cli.commands.jobs.plan_view_commands import plan_command, plan_yaml_command

    if as_yaml:
        plan_yaml_command(job)
    else:
        plan_command(job, diff=diff, json_output=json_output)


def memory(job: JobArgument, json_output: JsonOption = False) -> None:  # noqa: ARG001 - it is JSON anyway
    """Print the entity memory as a JSON document."""
    from holdfast.cli.commands.jobs.plan_view_commands import memory_command

    memory_command(job)


def verification(job: JobArgument, json_output: JsonOption = False) -> None:
    """Show the verdicts of every verification round, and why verification stopped."""
    from holdfast.cli.commands.jobs.verification_commands import verification_command

    verification_command(job, json_output=json_output)


def calls(job: JobArgument, json_output: JsonOption = False) -> None:
    """List every model and tool call of a job."""
    from holdfast.cli.commands.jobs.record_commands import calls_command

    calls_command(job, json_output=json_output)


def events(
    job: JobArgument,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Print new events until the job ends.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Print a job's log, event by event."""
    from holdfast.cli.commands.jobs.record_commands import events_command

    events_command(job, follow=follow, json_output=json_output)


def stats(
    job: Annotated[
        str | None, typer.Argument(metavar="[JOB]", help="Without it, all jobs.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Calls, tokens, recoveries and failures, of a job or of all."""
    from holdfast.cli.commands.jobs.record_commands import stats_command

    stats_command(job, json_output=json_output)
