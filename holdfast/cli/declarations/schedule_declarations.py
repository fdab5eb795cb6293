"""Declare the commands `schedules add`, `list`, `show`, `pause`, `resume`, `run` and `end`."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import (
    CollectionOption,
    DocsOption,
    JsonOption,
    ModelOption,
    PresetOption,
    ServersOption,
    SettingsOption,
)
from holdfast.models.schedules.overlap_policy import OverlapPolicy

app = typer.Typer(
    help="Ask questions again, and update reports, at certain times.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ScheduleArgument = Annotated[
    str, typer.Argument(metavar="ID", help="As `schedules list` shows it.")
]


@app.command()
def add(
    question: Annotated[
        str | None,
        typer.Argument(help="The question of each run; `-` reads it from standard input."),
    ] = None,
    at: Annotated[
        str,
        typer.Option(
            metavar="TIMES",
            help='"every 6h", "daily 08:00", "weekdays 08:00", "weekly on monday 08:00" or '
            '"monthly on 1 08:00".',
        ),
    ] = ...,  # type: ignore[assignment]  # typer's way to require an option
    update: Annotated[
        str | None,
        typer.Option(metavar="JOB", help="Update this job's report, instead of a question."),
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="With --update: run all searches again.")
    ] = False,
    zone: Annotated[
        str, typer.Option(metavar="ZONE", help="The time zone, such as Europe/Berlin.")
    ] = "UTC",
    overlap: Annotated[
        OverlapPolicy, typer.Option(help="What to do if the job before has not ended.")
    ] = OverlapPolicy.SKIP,
    catch_up: Annotated[
        str,
        typer.Option(
            metavar="AGE", help="Make up for a run that an outage delays by less, such as 12h."
        ),
    ] = "1d",
    runs: Annotated[int | None, typer.Option(min=1, help="End after so many runs.")] = None,
    docs: DocsOption = None,
    collection: CollectionOption = None,
    preset: PresetOption = None,
    model: ModelOption = None,
    servers: ServersOption = None,
    settings: SettingsOption = None,
    json_output: JsonOption = False,
) -> None:
    """Ask a question, or update a report, at certain times."""
    from holdfast.cli.commands.schedule_commands import (
        ScheduleOptions,
        add_question_command,
        add_update_command,
    )
    from holdfast.models.errors import BadInput

    options = ScheduleOptions(at, zone, overlap, catch_up, runs)
    if update is None and question is not None and not search:
        from holdfast.cli.options.run_options import RunOptions, check_run

        run = RunOptions(question, docs, collection, preset, model, tuple(settings or ()), servers)
        add_question_command(check_run(run), options, json_output=json_output)
    elif update is not None and not any(
        (question, docs, collection, preset, model, servers, settings)
    ):
        add_update_command(update, options, search=search, json_output=json_output)
    else:
        raise BadInput(
            "give a question with its options, or `--update JOB` alone, optionally with --search"
        )


@app.command("list")
def list_schedules(json_output: JsonOption = False) -> None:
    """List the schedules, with the last and the next run."""
    from holdfast.cli.commands.schedule_commands import list_schedules_command

    list_schedules_command(json_output=json_output)


@app.command()
def show(schedule: ScheduleArgument, json_output: JsonOption = False) -> None:
    """Show a schedule's runs, and what changed from one to the next."""
    from holdfast.cli.commands.schedule_commands import show_schedule_command

    show_schedule_command(schedule, json_output=json_output)


@app.command()
def pause(schedule: ScheduleArgument, json_output: JsonOption = False) -> None:
    """Begin no more runs; a running job goes on."""
    from holdfast.cli.commands.schedule_commands import set_status_command

    set_status_command(schedule, "paused", json_output=json_output)


@app.command()
def resume(schedule: ScheduleArgument, json_output: JsonOption = False) -> None:
    """Begin runs again; what was due meanwhile is left out."""
    from holdfast.cli.commands.schedule_commands import set_status_command

    set_status_command(schedule, "active", json_output=json_output)


@app.command()
def run(schedule: ScheduleArgument, json_output: JsonOption = False) -> None:
    """Run a schedule now, besides its times."""
    from holdfast.cli.commands.schedule_commands import run_schedule_command

    run_schedule_command(schedule, json_output=json_output)


@app.command()
def end(schedule: ScheduleArgument, json_output: JsonOption = False) -> None:
    """End a schedule for good; its jobs stay."""
    from holdfast.cli.commands.schedule_commands import set_status_command

    set_status_command(schedule, "ended", json_output=json_output)
