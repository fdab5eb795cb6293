"""Name the step that read the passage of a piece of evidence.

Evidence is of the step that read its passage, or of an agent task that quotes what another task
read: then the passages of the agent's loop name the step.
"""

from sqlalchemy import and_, func

from holdfast.storage.core.tables.evidence_tables import evidence
from holdfast.storage.core.tables.loop_tables import loop_passages

READING_STEP = func.coalesce(loop_passages.c.step_id, evidence.c.task_id).label("reading_step")
READING_ATTEMPT = func.coalesce(loop_passages.c.step_attempt, evidence.c.attempt).label(
    "reading_attempt"
)
PASSAGE_OF_EVIDENCE = and_(
    loop_passages.c.job_id == evidence.c.job_id,
    loop_passages.c.task_id == evidence.c.task_id,
    loop_passages.c.attempt == evidence.c.attempt,
    loop_passages.c.source_id == evidence.c.source_id,
)
"""The condition that joins an agent task's evidence with the passages of its loop."""
