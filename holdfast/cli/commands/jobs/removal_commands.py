"""Implement `holdfast rm` and `holdfast prune`."""

from collections.abc import Sequence
from datetime import timedelta

from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.job_removal import remove_ended_job, remove_ended_jobs
from holdfast.storage.jobs import job_removal
from holdfast.storage.jobs.job_removal import EndedJob, RemovedJob


def remove_command(job: str, *, json_output: bool) -> None:
    """Remove the job."""
    removed = run_with_job(job, remove_ended_job, needs_temporal=True)
    if json_output:
        print_json(removed)
    else:
        _print_removed([removed])


def prune_command(age: timedelta, *, is_dry_run: bool, json_output: bool) -> None:
    """Remove the jobs that ended before this time, or list them."""

    async def find(holdfast: Holdfast) -> list[EndedJob]:
        return await job_removal.ended_jobs(holdfast.db, age)

    async def remove(holdfast: Holdfast) -> list[RemovedJob]:
        return await remove_ended_jobs(holdfast, await find(holdfast))

    if is_dry_run:
        found = run_with_client(find)
        if json_output:
            print_json(found)
            return
        for job in found:
            print_text(f"{job.job_id}  {job.finished_at:%Y-%m-%d}  {job.question[:80]}")
        print_text(f"{len(found)} jobs would be removed")
        return
    removed = run_with_client(remove)
    if json_output:
        print_json(removed)
    else:
        _print_removed(removed)


def _print_removed(removed: Sequence[RemovedJob]) -> None:
    for job in removed:
        print_text(f"removed {job.job_id} and {job.sources} sources that only it quoted")
    for collection in sorted({job.unused_collection for job in removed} - {""}):
        print_text(
            f"no job uses the collection {collection!r} now; "
            f"`holdfast corpus remove {collection}` removes it"
        )
    if len(removed) != 1:
        print_text(f"removed {len(removed)} jobs")
