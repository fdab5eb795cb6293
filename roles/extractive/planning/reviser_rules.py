"""Reviser by rules: write found values into the agent tasks that depend on them."""

from collections.abc import Mapping

from holdfast.models.plans.plan_drafts import DraftNode
from holdfast.models.plans.research_plan import FINDINGS_ENTITY, Plan, Task
from holdfast.models.strategies.job_strategy import ReplanScope
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.planning.plans.plan_continuation import replaced_tasks
from holdfast.roles.extractive.planning.agent_plan_rules import replan_agent_tasks
from holdfast.roles.extractive.planning.planner_rules import SUPPORTING_PASSAGE, TELLING_PASSAGE
from holdfast.roles.extractive.planning.search_agenda import with_found_values
from holdfast.roles.planning.reviser import Refined, ReviserAnswer, ReviserTask

_NO_NAMES = (SUPPORTING_PASSAGE, TELLING_PASSAGE, FINDINGS_ENTITY.name)
_LONGEST = 80
"""Characters of a value that goes into a description; what is longer is shown as context."""


def revise(task: ReviserTask) -> ReviserAnswer:
    """Replace what failed; else write found values into unfinished agent tasks."""
    if task.failed:
        return _repaired(task)
    by_id = {each.id: each for each in task.plan}
    refined = []
    for name in task.changeable:
        node = by_id.get(name)
        if node is None:
            continue
        before = node.description
        after = with_found_values(
            before, (each for each in _found(node, by_id) if each not in before)
        )
        if after != before:
            refined.append(Refined(id=name, description=after))
    why = "What was found makes these more exact." if refined else "The plan holds."
    return ReviserAnswer(explanation=why, refine=refined)


def _repaired(task: ReviserTask) -> ReviserAnswer:
    """What failed, and what needs it, replaced as the replanner does."""
    plan, gone, added = Plan(tasks=task.plan), dict[str, None](), dict[str, DraftNode]()
    for each in task.failed:
        if each.id in gone:
            continue
        replaced = replaced_tasks(plan, each.id, ReplanScope.DEPENDENTS)
        draft = replan_agent_tasks(
            ReplannerTask(
                tools=(),
                agents=task.agents,
                question=task.question,
                current_plan=plan.live,
                failed_task_id=each.id,
                feedback=each.why,
                replaced=replaced,
                used_ids=(*task.used_ids, *plan.by_id),
            )
        )
        if not draft.tasks:  # left to the replanner, which gives it up
            continue
        gone |= dict.fromkeys(replaced)
        kept = {name: node for name, node in added.items() if name not in replaced}
        added = kept | {node.id: node for node in draft.tasks}
        left = plan.with_superseded(replaced).tasks
        plan = Plan(tasks=(*left, *(node.to_task() for node in draft.tasks)))
    why = "What failed is tried in another way."
    known = {each.id for each in task.plan}
    removed = [name for name in gone if name in known]
    return ReviserAnswer(explanation=why, add=list(added.values()), remove=removed)


def _found(node: Task, by_id: Mapping[str, Task]) -> list[str]:
    """The short values of the tasks that an agent task depends on."""
    results = [by_id[each].result for each in node.depends_on if each in by_id]
    return [
        str(value)
        for result in results
        for name, value in result.items()
        if name not in _NO_NAMES
        and isinstance(value, str | int | float)
        and 0 < len(str(value)) <= _LONGEST
        and "; " not in str(value)
    ]
