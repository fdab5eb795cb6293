"""Implement `holdfast calls`, `events` and `stats`: print what a job recorded."""

import asyncio

from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.call_table import call_table
from holdfast.cli.render.event_lines import event_line
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.statistics_table import statistics_rows
from holdfast.cli.render.terminal_output import console, print_json, print_json_text, print_text
from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.models.calls.call_records import CallView
from holdfast.models.views.job_views import EventView, Stats
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from holdfast.storage.views import statistics_queries as statistics

_FOLLOW_INTERVAL_S = 0.3


def calls_command(job: str, *, json_output: bool) -> None:
    """Print every model and tool call of the job."""

    async def read(holdfast: Holdfast, job_id: str) -> list[CallView]:
        return await job_queries.job_calls(holdfast.db, job_id)

    calls = run_with_job(job, read)
    if json_output:
        print_json(calls)
    else:
        console().print(call_table(calls))


def events_command(job: str, *, follow: bool, json_output: bool) -> None:
    """Print the job's log; with `follow` until the job ends."""

    async def read(holdfast: Holdfast, job_id: str) -> None:
        await _print_events(holdfast, job_id, follow=follow, json_output=json_output)

    run_with_job(job, read, needs_temporal=True)


async def _print_events(
    holdfast: Holdfast, job_id: str, *, follow: bool, json_output: bool
) -> None:
    after = 0
    while True:
        # The status is read before the events, so that no event at the end is missed.
        job = await job_rows.load_job(holdfast.db, job_id)
        events = await job_queries.events_after(holdfast.db, job_id, after)
        for event in events:
            _print_event(event, json_output=json_output)
        after = events[-1].seq if events else after
        if not events and (not follow or job.status.is_final):
            return
        if not events:
            await asyncio.sleep(_FOLLOW_INTERVAL_S)


def _print_event(event: EventView, *, json_output: bool) -> None:
    if json_output:
        print_json_text(event.model_dump_json())
    else:
        print_text(event_line(event))


def stats_command(job: str | None, *, json_output: bool) -> None:
    """Print the statistics of a job, or of all jobs."""

    async def read(holdfast: Holdfast, job_id: str | None = None) -> Stats:
        currency = read_prices(holdfast.settings.config_file).currency
        return await statistics.run_statistics(holdfast.db, job_id, currency)

    stats = run_with_client(read) if job is None else run_with_job(job, read)
    if json_output:
        print_json(stats)
    else:
        console().print(plain_table(("what", "how much"), statistics_rows(stats)))
