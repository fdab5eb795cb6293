"""The commands that look: none of them changes anything."""

import asyncio
import json
from pathlib import Path

from holdfast.cli.installation import ask, attached
from holdfast.cli.output import (
    console,
    print_json,
    print_json_text,
    print_text,
    printable,
    short,
    table,
)
from holdfast.cli.stats_rows import stats_rows
from holdfast.cli.tasks_table import job_lines, tasks_table
from holdfast.client import Holdfast
from holdfast.figures import Images, images_of, to_page, write_folder
from holdfast.prices import read_prices
from holdfast.reading import check_kinds, plan_of, report_of
from holdfast.rendering import to_json, to_markdown
from holdfast.status import status_of
from models.calls import CallView
from models.errors import BadInput
from models.evidence import Report
from models.jobs import FINAL, JobStatus
from models.listing import memory_document
from models.plan import Plan, Task
from models.views import EventView, JobView, Stats
from planning.nesting import nested
from storage import jobs, plans, views
from storage import stats as statistics
from storage.plans import Revision

_FOLLOW_S = 0.3
_FORMATS = ("md", "json", "html")


def list_command(limit: int, status: str | None, preset: str | None, *, json_output: bool) -> None:
    check_kinds(status, preset)
    found = ask(lambda holdfast: holdfast.lines(limit, status, preset))
    if json_output:
        print_json(found)
        return
    if not found:
        print_text('no jobs yet; ask one with `holdfast run "..."`')
        return
    rows = [
        (line.job_id, line.status, line.preset, _seconds(line.seconds), short(line.question, 60),
         short(line.answer or line.stop_reason or "", 50))
        for line in found
    ]  # fmt: skip
    console().print(table(("job", "status", "preset", "seconds", "question", "answer"), rows))


def show_command(job_id: str, *, json_output: bool) -> None:
    async def read(holdfast: Holdfast) -> tuple[JobView, tuple[str, ...]]:
        view = await holdfast.show(job_id)
        if json_output or JobStatus(view.status) in FINAL:
            return view, ()
        return view, (await status_of(holdfast, job_id)).blocked_by

    view, blocked_by = ask(read)
    if json_output:
        print_json(view)
        return
    for line in (*job_lines(view), *(f"blocked:  {reason}" for reason in blocked_by)):
        print_text(printable(line))
    console().print(tasks_table(view))


def report_command(job_id: str, form: str, folder: Path | None = None) -> None:
    if form not in _FORMATS:
        raise BadInput(f"no report format {form!r}; formats: {', '.join(_FORMATS)}")
    is_whole = folder is not None

    async def read(holdfast: Holdfast) -> tuple[Report, Images]:
        found = await report_of(holdfast, job_id)
        if form != "html" and not is_whole:
            return found, {}
        return found, await images_of(holdfast, job_id, found, all_forms=is_whole)

    report, images = ask(read)
    if folder is not None:
        for path in write_folder(folder, report, images):
            print_text(str(path))
    elif form == "json":
        print_json(dict(to_json(report)))
    else:
        print_text(to_page(report, images) if form == "html" else printable(to_markdown(report)))


def plan_command(job_id: str, *, diff: bool, json_output: bool) -> None:
    async def both(holdfast: Holdfast) -> tuple[Plan, list[Revision]]:
        plan = await plan_of(holdfast, job_id)
        return plan, await plans.revisions(holdfast.db, job_id)

    plan, revisions = ask(both)
    if json_output:
        print_json(revisions if diff else list(plan.tasks))
    elif diff:
        _print_revisions(plan, revisions)
    else:
        print_plan(plan)


def print_plan(plan: Plan) -> None:
    """The plan as a table."""
    columns = ("task", "kind", "status", "waits for", "description")
    rows = [(f"  {t.id}" if t.parent else t.id, by_whom(t), t.status.value, ", ".join(t.depends_on),
             short(t.description, 90)) for t in nested(plan.tasks)]  # fmt: skip
    console().print(table(columns, rows))


def by_whom(task: Task) -> str:
    """The tool that is called, the agent that works it, or that it is a deduction."""
    return task.tool or task.agent or task.kind.value


def _print_revisions(plan: Plan, revisions: list[Revision]) -> None:
    for revision in revisions:
        cause = f"replanned from {revision.failed_task}" if revision.failed_task else revision.cause
        if revision.scope and not revision.failed_task:
            cause = f"{revision.scope} {cause}"
        print_text(f"revision {revision.revision}: {cause} "
                   f"(depth {revision.depth}, breadth {revision.breadth:g})")  # fmt: skip
        if revision.explanation:
            print_text(f"  why: {printable(short(revision.explanation, 200))}")
        for sign, names in (("-", revision.superseded), ("+", revision.added)):
            for name in names:
                task = plan.by_id[name]
                print_text(f"  {sign} {name} [{by_whom(task)}] "
                           f"{printable(short(task.description, 100))}")  # fmt: skip
        for change in revision.changed:
            print_text(
                f"  ~ {change.task} {change.field}: {printable(short(str(change.new), 100))}"
            )


def memory_command(job_id: str) -> None:
    found = ask(lambda holdfast: plan_of(holdfast, job_id))
    print_json_text(json.dumps(memory_document(found), indent=2, ensure_ascii=False))


def calls_command(job_id: str, *, json_output: bool) -> None:
    async def read(holdfast: Holdfast) -> list[CallView]:
        await jobs.load(holdfast.db, job_id)
        return await views.calls(holdfast.db, job_id)

    found = ask(read)
    if json_output:
        print_json(found)
        return
    columns = (
        "kind",
        "role",
        "task",
        "name",
        "status",
        "seconds",
        "in",
        "out",
        "reused",
        "request",
    )
    rows = [_call_row(call) for call in found]
    console().print(table(columns, rows))


def _call_row(call: CallView) -> tuple[object, ...]:
    took = call.finished_at - call.started_at if call.finished_at else None
    seconds = _seconds(took.total_seconds() if took else None)
    spent = (call.tokens["input"], call.tokens["output"])
    name = (call.kind, call.role, call.task, call.name, call.status)
    return (*name, seconds, *spent, call.reused, call.request_hash[:10])


def events_command(job_id: str, *, follow: bool, json_output: bool) -> None:
    async def read() -> None:
        async with attached() as holdfast:
            await _events(holdfast, job_id, follow=follow, json_output=json_output)

    asyncio.run(read())


async def _events(holdfast: Holdfast, job_id: str, *, follow: bool, json_output: bool) -> None:
    after = 0
    while True:
        # Asked before the events are read, so that none is missed after the end.
        job = await jobs.load(holdfast.db, job_id)
        found = await views.events_after(holdfast.db, job_id, after)
        for event in found:
            _print_event(event, json_output=json_output)
        after = found[-1].seq if found else after
        if not found and (not follow or job.status in FINAL):
            return
        if not found:
            await asyncio.sleep(_FOLLOW_S)


def _print_event(event: EventView, *, json_output: bool) -> None:
    if json_output:
        print_json_text(event.model_dump_json())
        return
    facts = " ".join(f"{name}={value}" for name, value in event.facts.items() if value is not None)
    line = f"{event.seq:>4} {event.at:%H:%M:%S} {event.kind:<16} {event.task:<6} {facts}"
    print_text(printable(short(line, 200) if "\n" in line else line.rstrip()))


def stats_command(job_id: str | None, *, json_output: bool) -> None:
    async def read(holdfast: Holdfast) -> Stats:
        if job_id is not None:
            await jobs.load(holdfast.db, job_id)
        currency = read_prices(holdfast.settings.config_file).currency
        return await statistics.stats(holdfast.db, job_id, currency)

    found = ask(read)
    if json_output:
        print_json(found)
        return
    console().print(table(("what", "how much"), stats_rows(found)))


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
