"""Update a report for the price of what changed: fork what depends on changed sources."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pydantic import Field, JsonValue

from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.corpus.folder_rereading import FolderReading
from holdfast.evidence.source_recheck import CitationCheck, RecheckResult, recheck_job
from holdfast.jobs.job_lookup import report_of
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_fork import ForkCause
from holdfast.models.plans.research_plan import Plan, TaskKind, TaskStatus
from holdfast.planning.plans.downstream_tasks import owning_task
from holdfast.planning.plans.plan_edits import own_tasks
from holdfast.records.fork_submission import ForkPlan, ForkSubmission
from holdfast.records.job_forking import fork_plan, prepare_fork, start_fork
from holdfast.storage.forks import fork_rows
from holdfast.storage.jobs.job_rows import Preparation
from holdfast.storage.plans import task_queries

_LOST = (SourceDrift.CHANGED, SourceDrift.GONE)


class JobUpdate(Frozen):
    """What became of the sources of a report, and the job that answers with the present ones."""

    updated_job: str
    """The job whose report was updated."""
    is_recent: bool = False
    """True if the sources were read so recently that nothing was done."""
    read_at: datetime | None = None
    """When the sources were last read, before this update."""
    counts: Mapping[str, int] = Field(default_factory=dict)
    changed: tuple[CitationCheck, ...] = ()
    """The citations whose words are not in their source any more."""
    folders: tuple[FolderReading, ...] = ()
    """The folders of the job's documents, which were read again before."""
    fork: ForkPlan | None = None
    """What runs again; None: nothing depends on a change."""
    job_id: str | None = None
    """The new job; None: there is none."""
    note: str


async def update_job(
    holdfast: Holdfast,
    job_id: str,
    *,
    owner: str,
    by: str,
    key: str | None = None,
    key_id: str = "",
    older_than: timedelta | None = None,
    searches_again: bool = False,
    is_dry_run: bool = False,
    prepare: Preparation | None = None,
) -> JobUpdate:
    """Read the sources of the job's report again, and fork the tasks that depend on what changed.

    With `older_than`, nothing is done if the sources were read more recently. `searches_again` runs
    all tasks that call tools again, so that new sources are found as well. A dry run reads the
    sources, and starts no job. `key_id` is the API key that asks; its quota counts the new job.
    With `key`, an update starts one job for each key; `prepare` writes more of what it begins with.

    Raises:
        NotFound: there is no such job, or it has no report.
        BadInput: the tasks cannot run again.
        ServiceDown: Temporal does not answer.
    """
    report = await report_of(holdfast, job_id)
    read_at = report.rechecked_at or report.delivered_at
    if older_than is not None and read_at is not None and datetime.now(UTC) - read_at < older_than:
        return JobUpdate(
            updated_job=job_id,
            is_recent=True,
            read_at=read_at,
            note=f"the sources were read on {read_at:%Y-%m-%d %H:%M} UTC; nothing was done",
        )
    found = await recheck_job(holdfast, job_id, by=by)
    changed = tuple(each for each in found.checks if each.verdict in _LOST)
    plan = await task_queries.load_plan(holdfast.db, job_id)
    named = await _tasks_to_run(holdfast, job_id, plan, changed, searches_again=searches_again)
    told = JobUpdate(
        updated_job=job_id,
        read_at=read_at,
        counts=dict(found.counts),
        changed=changed,
        folders=found.folders,
        note=_note(found, changed, named, searches_again=searches_again),
    )
    if not named:
        return told
    prepared = await prepare_fork(
        holdfast,
        job_id,
        ForkSubmission(tasks=named),
        owner=owner,
        by=by,
        cause=ForkCause.UPDATED,
    )
    if is_dry_run:
        prices = read_prices(holdfast.settings.config_file)
        return told.model_copy(update={"fork": fork_plan(prepared, prices)})
    # Each update finds out again which tasks run, so these are no part of what was asked.
    asked: Mapping[str, JsonValue] = {
        "update": job_id,
        "owner": owner,
        "searches_again": searches_again,
    }
    forked = await start_fork(
        holdfast,
        replace(prepared, asked=asked),
        by=by,
        key=key,
        key_id=key_id,
        prepare=prepare,
    )
    return told.model_copy(update={"fork": forked.fork, "job_id": forked.job_id})


async def _tasks_to_run(
    holdfast: Holdfast,
    job_id: str,
    plan: Plan,
    changed: tuple[CitationCheck, ...],
    *,
    searches_again: bool,
) -> tuple[str, ...]:
    numbers = [each.evidence_id for each in changed]
    holders = await fork_rows.same_evidence(holdfast.db, job_id, numbers) if numbers else {}
    owners = {owning_task(plan, task_id) for task_id in holders.values()}
    if searches_again:
        owners |= {
            task.id
            for task in own_tasks(plan)
            if task.kind is not TaskKind.REASONING and task.status is TaskStatus.DONE
        }
    return tuple(task.id for task in own_tasks(plan) if task.id in owners)


def _note(
    found: RecheckResult,
    changed: tuple[CitationCheck, ...],
    named: tuple[str, ...],
    *,
    searches_again: bool,
) -> str:
    unread = found.counts[SourceDrift.UNREADABLE.value]
    unknown = f"; {unread} could not be read" if unread else ""
    added = 0 if searches_again else sum(folder.added for folder in found.folders)
    only = "" if changed or named else ", which only a new search looks for"
    new = f"; documents new since the folder was last read: {added}{only}" if added else ""
    if changed:
        lost = f"{len(changed)} of {len(found.checks)} citations changed or are gone"
        return f"{lost}{unknown}{new}"
    searched = "; the searches run again" if named else ", so the report stays"
    return f"no citation changed{unknown}{searched}{new}"
