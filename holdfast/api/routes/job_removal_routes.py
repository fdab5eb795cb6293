"""Define the route that prunes jobs that ended long ago."""

from fastapi import APIRouter
from pydantic import Field

from holdfast.api.api_context import Administrator
from holdfast.jobs.job_pruning import PrunedJobs, prune_jobs
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.pruning import PrunedPart

router = APIRouter(tags=["jobs"])


class PruneBody(Frozen):
    """Which ended jobs are pruned, and what of them is removed."""

    older_than: str | None = Field(
        default=None, max_length=20, description="Days or hours, such as `30d` or `12h`."
    )
    down_to: str | None = Field(
        default=None,
        max_length=20,
        description="The size that is left, such as `20GB`; the oldest jobs are pruned first.",
    )
    part: PrunedPart = Field(
        default=PrunedPart.JOBS, description="Whole jobs, their raw answers, or their logs."
    )
    dry_run: bool = Field(
        default=False, strict=True, description="Only say which jobs would be pruned."
    )


@router.post("/prune")
async def prune(session: Administrator, body: PruneBody) -> PrunedJobs:
    """Prune ended jobs by age, size or both.

    Without an age and a size, erase the jobs whose time is over by `[retention]` of
    `holdfast.toml`.
    """
    return await prune_jobs(
        session.holdfast,
        body.part,
        older_than=body.older_than,
        down_to=body.down_to,
        is_dry_run=body.dry_run,
    )
