"""Prune ended jobs by age and size: whole jobs, their raw answers, or their logs."""

from holdfast.client import Holdfast
from holdfast.configuration.retention_settings import read_retention
from holdfast.jobs.job_removal import remove_ended_jobs
from holdfast.jobs.retention import RetentionRound, erase_due_jobs, jobs_due
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_age import parse_age, parse_size
from holdfast.models.jobs.pruning import PrunedPart
from holdfast.storage.jobs import job_pruning
from holdfast.storage.jobs.job_pruning import EndedJob
from holdfast.storage.jobs.job_removal import RemovedJob


class PrunedJobs(Frozen):
    """The ended jobs that were chosen, and those that were removed as a whole."""

    part: PrunedPart
    found: tuple[EndedJob, ...]
    removed: tuple[RemovedJob, ...]
    """Empty if only answers or logs were removed."""
    note: str = ""
    """Why jobs whose time is over by `[retention]` were not erased."""

    @property
    def size_bytes(self) -> int:
        return sum(job.size_bytes for job in self.found)


async def prune_jobs(
    holdfast: Holdfast,
    part: PrunedPart,
    *,
    older_than: str | None,
    down_to: str | None,
    is_dry_run: bool,
) -> PrunedJobs:
    """Remove the part of the jobs that ended long ago; `is_dry_run`: only say of which jobs.

    Without an age and a size, the jobs are those whose time is over by `[retention]`, which are
    erased. `older_than` is an age such as `30d`, `down_to` a size such as `20GB` that the part of
    all jobs has afterwards, unless younger or running jobs need more.

    Raises:
        BadInput: neither is given, nor a `[retention]`, or one cannot be read.
        ServiceDown: Temporal does not answer.
    """
    if older_than is None and down_to is None:
        return await _by_retention(holdfast, part, is_dry_run=is_dry_run)
    with error_field("older_than"):
        age = None if older_than is None else parse_age(older_than)
    with error_field("down_to"):
        size = None if down_to is None else parse_size(down_to)
    found = await job_pruning.ended_jobs(holdfast.db, part, older_than=age, down_to_bytes=size)
    removed: list[RemovedJob] = []
    ids = [job.job_id for job in found]
    if not is_dry_run:
        match part:
            case PrunedPart.JOBS:
                removed = await remove_ended_jobs(holdfast, found)
            case PrunedPart.RESPONSES:
                await job_pruning.prune_responses(holdfast.db, ids)
            case PrunedPart.EVENTS:
                await job_pruning.prune_events(holdfast.db, ids)
    return PrunedJobs(part=part, found=tuple(found), removed=tuple(removed))


async def _by_retention(holdfast: Holdfast, part: PrunedPart, *, is_dry_run: bool) -> PrunedJobs:
    kept = read_retention(holdfast.settings.config_file)
    if kept is None or part is not PrunedPart.JOBS:
        raise BadInput(
            "name an age, such as 30d, a size, such as 20GB, or both; or, for whole jobs, set "
            "[retention] in holdfast.toml",
            field="older_than",
        )
    found = {job.job_id: job for job in await jobs_due(holdfast, kept)}
    done = RetentionRound() if is_dry_run else await erase_due_jobs(holdfast, kept)
    removed = tuple(
        RemovedJob(
            job_id=each.subject,
            question=found[each.subject].question,
            sources=each.rows.get("sources", 0),
        )
        for each in done.receipts
        if each.subject in found
    )
    return PrunedJobs(part=part, found=tuple(found.values()), removed=removed, note=done.note)
