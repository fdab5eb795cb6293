"""Load what a cited loop leaves to the planner: that of the whole question, or of an agent task."""

from collections.abc import Sequence

from holdfast.activities.agents.shown_steps import call_in_words
from holdfast.models.loop.loop_handover import LoopFindings
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.planning.loop.loop_findings import loop_findings
from holdfast.storage.core.database import Database
from holdfast.storage.plans import loop_result_rows, transcript_rows
from holdfast.storage.plans.transcript_rows import LoopAttempt


async def load_opening_findings(
    db: Database, job_id: str, tasks: Sequence[StoredTask]
) -> LoopFindings | None:
    """Return the findings of the opening loop; None if the job began with its plan."""
    loop = opening_of(tasks)
    return None if loop is None else await load_findings(db, job_id, loop, tasks)


async def load_findings(
    db: Database, job_id: str, loop: StoredTask, tasks: Sequence[StoredTask]
) -> LoopFindings:
    """Return what the present attempt at this agent task proved, tried and left open."""
    name = loop.task.id
    transcript = await transcript_rows.load_transcript(db, job_id, LoopAttempt(name, loop.attempt))
    results = await loop_result_rows.load_loop_results(db, job_id)
    steps = [e for e in tasks if e.task.parent == name and not e.task.status.is_discarded]
    search = steps[0].task.tool if steps else ""  # a loop begins with a search
    calls = [call_in_words(each, search) for each in steps]
    return loop_findings(loop, calls, results.get(name), transcript.passages)


def opening_of(tasks: Sequence[StoredTask]) -> StoredTask | None:
    """Return the opening loop among these tasks."""
    live = (each for each in tasks if not each.task.status.is_discarded)
    return next((each for each in live if each.task.is_opening), None)
