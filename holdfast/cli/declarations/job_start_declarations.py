"""Declare the commands `run`, `submit`, `wait` and `demo` with their options."""

from typing import Annotated

import typer

from holdfast.cli.declarations.option_types import (
    CollectionOption,
    DocsOption,
    FollowsOption,
    JobArgument,
    JsonOption,
    ModelOption,
    NotifyOption,
    PresetOption,
    QuestionArgument,
    ReviewOption,
    ServersOption,
    SettingsOption,
)
from holdfast.models.errors import BadInput


def run(
    question: QuestionArgument,
    docs: DocsOption = None,
    collection: CollectionOption = None,
    preset: PresetOption = None,
    model: ModelOption = None,
    servers: ServersOption = None,
    follows: FollowsOption = None,
    settings: SettingsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only plan, and estimate the cost of the rest.")
    ] = False,
    review: ReviewOption = False,
    waits: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait", help="With --review: watch the job to its end, or return at once."
        ),
    ] = True,
    notify: NotifyOption = None,
    json_output: JsonOption = False,
) -> None:
    """Ask a question, watch the work, and read the cited report."""
    from holdfast.cli.options.run_options import RunOptions, check_run

    changes = _setting_changes(settings, plan_only=dry_run, review=review and not dry_run)
    checked = check_run(
        RunOptions(question, docs, collection, preset, model, changes, servers, follows)
    )
    if notify is not None and (dry_run or review):
        raise BadInput(
            "--notify goes with a run that needs nobody; with --review, give it to `holdfast wait`"
        )
    if dry_run:
        from holdfast.cli.commands.jobs.dry_run_commands import dry_run_command

        raise typer.Exit(dry_run_command(checked, json_output=json_output))
    if review:
        from holdfast.cli.commands.jobs.plan_review_commands import review_command

        raise typer.Exit(review_command(checked, waits=waits, json_output=json_output))
    from holdfast.cli.commands.jobs.run_commands import run_command

    raise typer.Exit(run_command(checked, notify, json_output=json_output))


def submit(
    question: QuestionArgument,
    docs: DocsOption = None,
    collection: CollectionOption = None,
    preset: PresetOption = None,
    model: ModelOption = None,
    servers: ServersOption = None,
    follows: FollowsOption = None,
    settings: SettingsOption = None,
    review: ReviewOption = False,
    key: Annotated[
        str | None, typer.Option("--id", help="Submitting again with this id gives the same job.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Submit a question and print the job's id at once."""
    from holdfast.cli.options.run_options import RunOptions, check_run
    from holdfast.jobs.job_submission import checked_request_key

    key = checked_request_key(key)
    changes = _setting_changes(settings, review=review)
    checked = check_run(
        RunOptions(question, docs, collection, preset, model, changes, servers, follows)
    )
    from holdfast.cli.commands.jobs.run_commands import submit_command

    raise typer.Exit(submit_command(checked, key, json_output=json_output))


def wait(
    job: JobArgument,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds; then exit with code 3.")
    ] = None,
    notify: NotifyOption = None,
    json_output: JsonOption = False,
) -> None:
    """Wait until a job has ended; the exit code says how."""
    from holdfast.cli.commands.jobs.run_commands import wait_command

    raise typer.Exit(wait_command(job, timeout, notify, json_output=json_output))


def demo(
    crash: Annotated[
        bool, typer.Option("--crash", help="Kill the worker in mid-run, and see what that cost.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Run a question over the documents that come with Holdfast; no key, no network."""
    from holdfast.cli.commands.demo_commands import demo_command

    raise typer.Exit(demo_command(crash=crash, json_output=json_output))


def _setting_changes(settings: list[str] | None, **switches: bool) -> tuple[str, ...]:
    """The values of `--set`, followed by the settings that options such as `--review` turn on."""
    return (*(settings or ()), *(f"{name}=true" for name, is_on in switches.items() if is_on))
