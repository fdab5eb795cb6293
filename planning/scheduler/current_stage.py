"""Name the stage that a job is in, from the state that its workflow knows."""

from holdfast.models.budget.job_stages import StageName
from holdfast.models.jobs.job_state import JobState


def current_stage(state: JobState) -> StageName:
    """Return the stage of what runs now, or of what runs next."""
    if state.is_reporting or state.has_report:
        return StageName.REPORT
    if not state.has_plan:
        return _stage_before_plan(state)
    if state.strategy.is_one_loop:
        return StageName.LOOP
    rounds = state.rounds
    if state.is_verifying and rounds.verified == rounds.filled:
        return StageName.VERIFY
    return StageName.FILL if state.is_verifying or rounds.filled else StageName.WORK


def _stage_before_plan(state: JobState) -> StageName:
    opening = state.opening
    if opening is None:
        return StageName.LOOP if state.strategy.opens_with_loop else StageName.PLAN
    return StageName.PLAN if opening.status.has_run and not opening.is_answered else StageName.LOOP
