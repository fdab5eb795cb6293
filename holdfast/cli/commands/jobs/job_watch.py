"""Watch a job until its end: as a table on a terminal, else as lines; then print its report."""

import asyncio
import sys

from rich.console import Group
from rich.live import Live
from rich.text import Text

from holdfast.cli.commands.jobs.job_preparation import EXIT_INTERRUPTED
from holdfast.cli.commands.jobs.repeated_tries import RepeatedTries
from holdfast.cli.render.event_lines import progress_line
from holdfast.cli.render.job_lines import job_lines
from holdfast.cli.render.question_lines import open_question_lines
from holdfast.cli.render.task_table import task_table
from holdfast.cli.render.terminal_output import (
    console,
    count_with_noun,
    print_json,
    print_progress,
    print_text,
    printable,
)
from holdfast.client import Holdfast
from holdfast.jobs.open_questions import open_questions_of
from holdfast.jobs.record_in_words import state_with_ending
from holdfast.models.errors import StorageAway
from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.views.job_views import JobView
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.views.job_queries import events_after

EXIT_JOB_GOES_ON = 3
"""The command has ended before the job."""

_POLL_INTERVAL_S = 0.15


async def watch_job(holdfast: Holdfast, job_id: str, *, json_output: bool) -> int:
    """Watch the job and print its report; 0 when the job is done, 130 when interrupted.

    3 if PostgreSQL goes away: the job has not ended.
    """
    try:
        watch = _watch_on_terminal if sys.stdout.isatty() and not json_output else _watch_as_lines
        view = await watch(holdfast, job_id)
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_progress(
            f"\njob {job_id} continues without you; come back with `holdfast wait {job_id}`"
        )
        return EXIT_INTERRUPTED
    except StorageAway:
        return print_that_job_goes_on(job_id)
    if json_output:
        print_json(view)
    else:
        await _print_outcome(holdfast, view)
    return 0 if view.status == JobStatus.DONE else 1


def print_that_job_goes_on(job_id: str) -> int:
    """Print how to come back to a job that cannot be watched now; return the exit code."""
    print_progress(
        f"PostgreSQL stopped answering, so the job cannot be watched now; job {job_id} goes on "
        f"once it is back: run `holdfast up`, then `holdfast wait {job_id}`"
    )
    return EXIT_JOB_GOES_ON


async def _watch_on_terminal(holdfast: Holdfast, job_id: str) -> JobView:
    """Show the table of tasks, redrawn when it changes."""
    tries = RepeatedTries(holdfast, job_id)
    with Live(console=console(), refresh_per_second=8) as live:
        while True:
            view = await holdfast.show(job_id)
            questions = await open_questions_of(holdfast.db, job_id)
            asked = (line for question in questions for line in open_question_lines(question))
            # The last look at what is tried again may be older than the end.
            tried = () if _is_over(view) else await tries.lines()
            shown = (*job_lines(view), *asked, *tried)
            lines = Text("\n".join(map(printable, shown)))
            live.update(Group(lines, Text(), task_table(view)))
            if _is_over(view):
                return view
            await asyncio.sleep(_POLL_INTERVAL_S)


async def _watch_as_lines(holdfast: Holdfast, job_id: str) -> JobView:
    """Print a line to standard error for each event that people want to see."""
    view = await holdfast.show(job_id)
    print_progress(f"job {job_id}")
    if view.temporal.url:
        print_progress(f"temporal: {view.temporal.url}")
    after, tries = 0, RepeatedTries(holdfast, job_id)
    while True:
        # The status is read before the events, so that no event at the end is missed.
        view = await holdfast.show(job_id)
        events = await events_after(holdfast.db, job_id, after)
        if events:
            # Read after the events, so that the findings of a finished task are in the view.
            view = await holdfast.show(job_id)
        for event in events:
            if line := progress_line(event, view):
                print_progress(line)
        for line in await tries.new_lines():
            print_progress(line)
        after = events[-1].seq if events else after
        if not events and _is_over(view):
            return view
        await asyncio.sleep(0 if events else _POLL_INTERVAL_S)


def _is_over(view: JobView) -> bool:
    """True if the job has ended."""
    return JobStatus(view.status).is_final


async def _print_outcome(holdfast: Holdfast, view: JobView) -> None:
    report = await load_report(holdfast.db, view.job_id)
    if report is not None:
        print_text("")
        print_text(to_markdown(report.with_stages(view.stages, view.currency)))
    if view.status != JobStatus.DONE:
        state = state_with_ending(view.status, view.stop_reason)
        print_progress(f"job {view.job_id} {state}: {view.message}")
        print_progress(f"see what happened with `holdfast show {view.job_id}`")
        return
    print_progress(
        f"{count_with_noun(view.calls.model, 'model call')}, "
        f"{count_with_noun(view.calls.tool, 'tool call')}, "
        f"{count_with_noun(view.replans, 'replan')}, "
        f"{count_with_noun(view.tokens.input + view.tokens.output, 'token')} "
        f"in {view.seconds or 0:.1f} s; "
        f"look again with `holdfast show {view.job_id}`"
    )
