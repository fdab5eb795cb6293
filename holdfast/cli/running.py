"""The commands that start jobs and watch them."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.text import Text

from holdfast.adding import add, added_lines
from holdfast.asked import asked_of
from holdfast.cli.installation import attached
from holdfast.cli.output import console, counted, print_json, print_text, printable, say
from holdfast.cli.question_lines import question_lines
from holdfast.cli.requests import Wish, checked_request
from holdfast.cli.servers import check_servers
from holdfast.cli.tasks_table import job_lines, progress_line, tasks_table
from holdfast.client import Holdfast, connected
from holdfast.ingest import Manner
from holdfast.rendering import to_markdown
from holdfast.services.lifecycle import up
from holdfast.settings import Settings, load_settings
from models.errors import BadInput, NotFound
from models.jobs import FINAL, JobRequest, JobStatus
from models.views import JobView
from storage.corpus import Corpus
from storage.evidence import load_report
from storage.views import events_after

_LOOK_EVERY_S = 0.15
_TIMED_OUT = 3
INTERRUPTED = 130
_LONGEST_WAIT_S = 10 * 365 * 86_400
_FINAL = frozenset(status.value for status in FINAL)


def run_command(wish: Wish, *, json_output: bool) -> int:
    """Submit, watch, report; the exit code is 0 when the job is done."""

    async def work(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        return await watched(holdfast, job_id, json_output=json_output)

    return asyncio.run(prepared(wish, work))


def submit_command(wish: Wish, key: str | None, *, json_output: bool) -> None:
    """Submit and print the job's id."""
    if key is not None and not key.strip():
        raise BadInput("--id is empty; give a name of your own for this request")

    async def work(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request, key=key)
        if json_output:
            print_json({"job_id": job_id})
        else:
            print_text(job_id)
        return 0

    asyncio.run(prepared(wish, work))


def wait_command(job_id: str, timeout_s: float | None, *, json_output: bool) -> int:
    """Wait for the end; 0 done, 1 failed or cancelled, 3 not yet."""

    async def work() -> JobView:
        async with attached() as holdfast:
            is_endless = timeout_s is None or timeout_s > _LONGEST_WAIT_S
            within = None if is_endless else timedelta(seconds=timeout_s or 0)
            if (job := await holdfast.wait(job_id, timedelta(0))).status is JobStatus.PAUSED:
                why = f" ({printable(job.message)})" if job.message else ""
                say(f"job {job_id} is paused{why}; `holdfast resume {job_id}` lets it go on")
            for asked in await asked_of(holdfast.db, job_id):
                for line in question_lines(asked):
                    say(line)
            await holdfast.wait(job_id, within)
            return await holdfast.show(job_id)

    view = asyncio.run(work())
    if json_output:
        print_json(view)
    else:
        for line in job_lines(view):
            print_text(printable(line))
    if view.status not in _FINAL:
        return _TIMED_OUT
    return 0 if view.status == JobStatus.DONE else 1


async def prepared(wish: Wish, work: Callable[[Holdfast, JobRequest], Awaitable[int]]) -> int:
    """Check the wish, bring the services up, read the documents; then do the work."""
    settings = load_settings()
    request = checked_request(wish, settings)
    await check_servers(request.servers, settings)
    if wish.docs is not None and wish.collection is None:
        _check_folder(wish.docs)
    endpoints = await up(settings, say)
    async with connected(settings, endpoints) as holdfast:
        if wish.docs is not None:
            collection = await _ingested(holdfast, wish, settings)
            request = request.model_copy(update={"collection": collection})
        elif request.collection:
            await _check_collection(holdfast, request.collection)
        elif settings.config_file is None and settings.uses_embedded_temporal:
            say("note: no documents were given, so there is nothing to search; use --docs DIR")
        return await work(holdfast, request)


def _check_folder(folder: Path) -> None:
    """Before services are started for nothing.

    Raises:
        BadInput: there is no such folder.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise BadInput(f"--docs {str(folder)!r} {what}; give a folder with your documents")


async def _check_collection(holdfast: Holdfast, name: str) -> None:
    """Before a job looks into nothing.

    Raises:
        NotFound: no document is in a collection of that name.
    """
    known = await Corpus(holdfast.db).collections()
    if name not in known:
        listed = ", ".join(known) or "none yet"
        raise NotFound(f"there is no collection {name!r}; collections: {listed}")


async def _ingested(holdfast: Holdfast, wish: Wish, settings: Settings) -> str:
    assert wish.docs is not None
    result, embedded = await add(settings, holdfast.db, wish.docs, wish.collection, Manner())
    for line in added_lines(result, embedded):
        say(line)
    return result.collection


async def watched(holdfast: Holdfast, job_id: str, *, json_output: bool) -> int:
    try:
        watch = _live if sys.stdout.isatty() and not json_output else _plain
        view = await watch(holdfast, job_id)
    except (KeyboardInterrupt, asyncio.CancelledError):
        say(f"\njob {job_id} goes on without you; come back with `holdfast wait {job_id}`")
        return INTERRUPTED
    if json_output:
        print_json(view)
    else:
        await _print_outcome(holdfast, view)
    return 0 if view.status == JobStatus.DONE else 1


async def _live(holdfast: Holdfast, job_id: str) -> JobView:
    """The table of tasks, drawn anew as it changes."""
    screen = console()
    with Live(console=screen, refresh_per_second=8) as live:
        while True:
            view = await holdfast.show(job_id)
            asked = await asked_of(holdfast.db, job_id)
            waiting = (line for each in asked for line in question_lines(each))
            lines = Text("\n".join(printable(line) for line in (*job_lines(view), *waiting)))
            live.update(Group(lines, Text(), tasks_table(view)))
            if view.status in _FINAL:
                return view
            await asyncio.sleep(_LOOK_EVERY_S)


async def _plain(holdfast: Holdfast, job_id: str) -> JobView:
    """A line on standard error for each entry of the log that a person would want to see."""
    view = await holdfast.show(job_id)
    say(f"job {job_id}")
    if view.temporal.url:
        say(f"temporal: {view.temporal.url}")
    after = 0
    while True:
        # Asked before the events are read, so that none is missed after the end.
        view = await holdfast.show(job_id)
        found = await events_after(holdfast.db, job_id, after)
        if found:
            # Read behind the events, so that what a finished task found is in it.
            view = await holdfast.show(job_id)
        for event in found:
            line = progress_line(event, view)
            if line:
                say(printable(line))
        after = found[-1].seq if found else after
        if not found and view.status in _FINAL:
            return view
        await asyncio.sleep(0 if found else _LOOK_EVERY_S)


async def _print_outcome(holdfast: Holdfast, view: JobView) -> None:
    report = await load_report(holdfast.db, view.job_id)
    if report is not None:
        print_text("")
        print_text(printable(to_markdown(report)))
    if view.status != JobStatus.DONE:
        say(f"job {view.job_id} {view.status} ({view.stop_reason}): {printable(view.message)}")
        say(f"see what happened with `holdfast show {view.job_id}`")
        return
    say(
        f"{counted(view.calls.model, 'model call')}, {counted(view.calls.tool, 'tool call')}, "
        f"{counted(view.replans, 'replan')}, "
        f"{counted(view.tokens.input + view.tokens.output, 'token')} in {view.seconds or 0:.1f} s; "
        f"look again with `holdfast show {view.job_id}`"
    )
