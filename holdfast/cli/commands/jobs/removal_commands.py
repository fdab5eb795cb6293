"""Implement `holdfast rm` and `holdfast prune`."""

from collections.abc import Sequence

from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.terminal_output import count_with_noun, print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.job_pruning import PrunedJobs, prune_jobs
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.storage.jobs.job_removal import RemovedJob


def remove_command(job: str, *, json_output: bool) -> None:
    """Remove the job."""
    removed = run_with_job(job, remove_ended_job, needs_temporal=True)
    if json_output:
        print_json(removed)
    else:
        _print_removed([removed])


def prune_command(
    part: PrunedPart,
    older_than: str | None,
    down_to: str | None,
    *,
    is_dry_run: bool,
    json_output: bool,
) -> None:
    """Prune ended jobs by age and size, or list them."""

    async def prune(holdfast: Holdfast) -> PrunedJobs:
        return await prune_jobs(
            holdfast, part, older_than=older_than, down_to=down_to, is_dry_run=is_dry_run
        )

    pruned = run_with_client(prune)
    if json_output:
        print_json(pruned)
        return
    if is_dry_run:
        for job in pruned.found:
            print_text(
                f"{job.job_id}  {job.finished_at:%Y-%m-%d}  {job.size_bytes:>12,} bytes  "
                f"{job.question[:80]}"
            )
    _print_removed(pruned.removed)
    if pruned.note:
        print_text(pruned.note)
    gone = {job.job_id for job in pruned.removed}
    is_whole = part is not PrunedPart.JOBS or is_dry_run
    counted = [job for job in pruned.found if is_whole or job.job_id in gone]
    verb = "would be pruned" if is_dry_run else "pruned"
    what = "" if part is PrunedPart.JOBS else f"{part.value} of "
    size_bytes = sum(job.size_bytes for job in counted)
    print_text(f"{what}{count_with_noun(len(counted), 'job')} {verb}: {size_bytes:,} bytes")


def _print_removed(removed: Sequence[RemovedJob]) -> None:
    for job in removed:
        print_text(
            f"removed {job.job_id} and {count_with_noun(job.sources, 'source')} that only it quoted"
        )
    for collection in sorted({job.unused_collection for job in removed} - {""}):
        print_text(
            f"no job uses the collection {collection!r} now; "
            f"`holdfast corpus remove {collection}` removes it"
        )
