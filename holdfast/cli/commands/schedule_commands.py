"""Implement `holdfast schedules`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from holdfast.cli.commands.jobs.job_preparation import prepare_and_run
from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import (
    console,
    print_json,
    print_progress,
    print_text,
    shortened_line,
)
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.models.jobs.job_age import parse_age
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import (
    ScheduledRun,
    ScheduleStatus,
    ScheduleTerms,
    ScheduleView,
)
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    schedule_question,
    schedule_update,
    set_status,
    show_schedule,
)

_SHOWN_RUNS = 20
_QUESTION = 60


@dataclass(frozen=True)
class ScheduleOptions:
    """The options of `schedules add` about times, as the user wrote them."""

    times: str
    time_zone: str
    overlap: OverlapPolicy
    catch_up: str
    runs: int | None

    @property
    def terms(self) -> ScheduleTerms:
        """The terms of the schedule.

        Raises:
            BadInput: the time after which a run is left out is no age.
        """
        return ScheduleTerms(
            times=self.times,
            time_zone=self.time_zone,
            overlap=self.overlap,
            catch_up=parse_age(self.catch_up),
            runs=self.runs,
        )


def add_question_command(
    checked: CheckedRun, options: ScheduleOptions, *, json_output: bool
) -> None:
    """Add a schedule of a question."""
    terms = options.terms

    async def add(holdfast: Holdfast, request: JobRequest) -> int:
        _print_new(await schedule_question(holdfast, request, terms), json_output=json_output)
        return 0

    prepare_and_run(checked, add)


def add_update_command(
    job: str, options: ScheduleOptions, *, search: bool, json_output: bool
) -> None:
    """Add a schedule that updates a report."""
    terms = options.terms

    async def add(holdfast: Holdfast, job_id: str) -> ScheduleView:
        return await schedule_update(
            holdfast, job_id, terms, owner=current_user(), searches_again=search
        )

    _print_new(run_with_job(job, add, needs_temporal=True), json_output=json_output)


def list_schedules_command(*, json_output: bool) -> None:
    """Print the schedules of all owners."""
    found = run_with_client(lambda holdfast: list_schedules(holdfast, None))
    if json_output:
        print_json(found)
        return
    rows = [
        (
            each.id,
            each.status.value,
            f"{each.terms.times} {each.terms.time_zone}",
            _next_run(each),
            each.owner,
            f"update of {each.updates}"
            if each.updates
            else shortened_line(each.question, _QUESTION),
        )
        for each in found
    ]
    console().print(plain_table(("schedule", "status", "times", "next", "owner", "asks"), rows))


def show_schedule_command(schedule: str, *, json_output: bool) -> None:
    """Print a schedule with its runs."""

    async def load(holdfast: Holdfast) -> tuple[ScheduleView, list[ScheduledRun]]:
        view = await show_schedule(holdfast, schedule, None)
        return view, await runs_of_schedule(holdfast, schedule, None, limit=_SHOWN_RUNS)

    view, runs = run_with_client(load)
    if json_output:
        print_json(
            {
                **view.model_dump(mode="json"),
                "last_runs": [each.model_dump(mode="json") for each in runs],
            }
        )
        return
    _print_schedule(view)
    for each in runs:
        print_text(f"{each.begun_at:%Y-%m-%d %H:%M}  {_run_line(each)}")


def set_status_command(schedule: str, status: str, *, json_output: bool) -> None:
    """Pause, resume or end a schedule."""
    wanted = ScheduleStatus(status)
    _change(lambda holdfast: set_status(holdfast, schedule, None, wanted), json_output=json_output)


def run_schedule_command(schedule: str, *, json_output: bool) -> None:
    """Run a schedule now."""
    _change(lambda holdfast: run_now(holdfast, schedule, None), json_output=json_output)
    print_progress(f"the run begins; `holdfast schedules show {schedule}` shows its job")


def _change(change: Callable[[Holdfast], Awaitable[ScheduleView]], *, json_output: bool) -> None:
    async def changed(holdfast: Holdfast) -> ScheduleView:
        return await change(holdfast)

    view = run_with_client(changed, needs_temporal=True)
    if json_output:
        print_json(view)
    else:
        _print_schedule(view)


def _print_new(view: ScheduleView, *, json_output: bool) -> None:
    if json_output:
        print_json(view)
        return
    print_text(view.id)
    print_progress(
        f"{_asks(view)} {view.terms.times} ({view.terms.time_zone}), next {_next_run(view)}; "
        f"`holdfast schedules run {view.id}` runs it now"
    )


def _print_schedule(view: ScheduleView) -> None:
    note = f" ({view.note})" if view.note else ""
    print_text(f"{view.id}: {view.status.value}{note}, {view.terms.times} {view.terms.time_zone}")
    print_text(f"{_asks(view)}: {shortened_line(view.question, 200)}")
    print_text(f"next run: {_next_run(view)}")


def _asks(view: ScheduleView) -> str:
    return f"updates the report of {view.updates}" if view.updates else "asks the question"


def _next_run(view: ScheduleView) -> str:
    return f"{view.next_run:%Y-%m-%d %H:%M} UTC" if view.next_run else "-"


def _run_line(run: ScheduledRun) -> str:
    if run.job_id is None:
        return f"no job: {run.note}"
    line = f"{run.job_id}  {run.status}"
    if run.changes is None:
        return line
    return f"{line}  since {run.changes.compared_job}: {run.changes.in_words}"
