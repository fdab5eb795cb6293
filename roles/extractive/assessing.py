"""The assessor by rules: completed with what was promised, failed after three searches in vain."""

from roles.assessor import Assessment
from roles.extractive.agenda import agenda_of
from roles.extractive.progress import outputs_of, progress_of
from roles.extractive.working import TRIES
from roles.node_planner import NodeTask


def assess(task: NodeTask) -> Assessment:
    """The verdict on the trace."""
    one = agenda_of(task)
    outputs = outputs_of(one, task)
    if outputs:
        return Assessment(
            status="completed", reason="The trace holds what was promised.", outputs=outputs
        )
    failed = sum(step.status == "failed" for step in task.trace)
    missing = ", ".join(each.name for each in task.expects if each.required)
    if task.must_end or failed >= TRIES or one.tool is None:
        return Assessment(
            status="failed", reason=task.must_end or f"{failed} steps failed.",
            deviation=f"Nothing that was read shows: {missing}",
        )  # fmt: skip
    hops = progress_of(one, task.trace).open_hops(one)
    about = hops[0].about if hops else one.question.text
    return Assessment(
        status="needs_more_steps", reason=f"Not found yet: {missing}",
        guidance=f"Look for what tells of: {about}"[:500],
    )  # fmt: skip
