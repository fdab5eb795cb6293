"""Define the route that removes every job that ended long ago."""

from fastapi import APIRouter
from pydantic import Field

from holdfast.api.api_context import Administrator
from holdfast.jobs.job_age import parse_age
from holdfast.jobs.job_removal import remove_ended_jobs
from holdfast.models.frozen_model import Frozen
from holdfast.storage.jobs.job_removal import EndedJob, RemovedJob, ended_jobs

router = APIRouter(tags=["jobs"])


class PruneBody(Frozen):
    """Which ended jobs are removed."""

    older_than: str = Field(max_length=20, description="Days or hours, such as `30d` or `12h`.")
    dry_run: bool = Field(default=False, description="Only say which jobs would be removed.")


class PrunedJobs(Frozen):
    """The jobs that ended before that time, and those that were removed."""

    found: tuple[EndedJob, ...]
    removed: tuple[RemovedJob, ...]


@router.post("/prune")
async def prune_jobs(session: Administrator, body: PruneBody) -> PrunedJobs:
    """Remove every job that ended before this time, with everything it found."""
    found = await ended_jobs(session.holdfast.db, parse_age(body.older_than))
    removed = [] if body.dry_run else await remove_ended_jobs(session.holdfast, found)
    return PrunedJobs(found=tuple(found), removed=tuple(removed))
