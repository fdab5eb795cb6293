"""Assessor by rules: complete a task with its outputs; fail it after three failures."""

from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.roles.agents.assessor import Assessment
from holdfast.roles.extractive.agents.search_progress import promised_outputs, search_progress
from holdfast.roles.extractive.agents.step_planner_rules import MOST_TRIES
from holdfast.roles.extractive.planning.search_agenda import agenda_for_agent


def assess(task: AgentRoleTask) -> Assessment:
    """The assessment of an agent's trace."""
    one = agenda_for_agent(task)
    outputs = promised_outputs(one, task)
    if outputs:
        return Assessment(
            status="completed", reason="The trace holds what was promised.", outputs=outputs
        )
    failed = sum(step.status == "failed" for step in task.trace)
    missing = ", ".join(each.name for each in task.expects if each.required)
    if task.must_end or failed >= MOST_TRIES or one.tool is None:
        return Assessment(
            status="failed",
            reason=task.must_end or f"{failed} steps failed.",
            deviation=f"Nothing that was read shows: {missing}",
        )
    hops = search_progress(one, task.trace).open_searches(one)
    about = hops[0].about if hops else one.question.text
    return Assessment(
        status="needs_more_steps",
        reason=f"Not found yet: {missing}",
        guidance=f"Look for what tells of: {about}"[:500],
    )
