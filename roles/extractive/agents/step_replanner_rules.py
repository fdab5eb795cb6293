"""Step replanner by rules: replace an agent's failed step and its dependent steps."""

import re

from holdfast.models.plans.plan_drafts import DraftTask, PlanDraft
from holdfast.models.plans.research_plan import FINAL_ANSWER, Task
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.planning.plans.search_tool_choice import search_tool
from holdfast.roles.extractive.agents.step_planner_rules import conclusion_task, retry_search
from holdfast.roles.extractive.planning.planner_rules import search_task
from holdfast.roles.extractive.planning.replanner_rules import MORE_HITS, replan_by_rules
from holdfast.roles.extractive.planning.search_agenda import SearchAgenda, build_agenda

_STEP = re.compile(r"^(?P<node>.+)\.(?P<step>\d+)(?P<again>[a-z]*)$")
_REFERRED = re.compile(r"<JSON_PATH>T(\d+[a-z]*)\.(?!\d)")


def replan_steps(task: ReplannerTask) -> PlanDraft:
    """The continuation of one agent's steps, under ids that begin with the agent's own."""
    found = _STEP.match(task.failed_task_id)
    node = found["node"] if found else task.failed_task_id
    one = build_agenda(task.question, task.expects, task.given, search_tool(task.tools))
    is_whole = [each.name for each in task.expects] == [FINAL_ANSWER] and not one.link
    if is_whole and one.searches:
        return _with_agent_ids(replan_by_rules(_as_plan_of_its_own(task, node, one)), node)
    return _another(one, task, node)


def _another(one: SearchAgenda, task: ReplannerTask, node: str) -> PlanDraft:
    """The agenda's search in another form, and the conclusion if the task needs one."""
    tries = sum(_is_search(each) for each in task.current_plan)
    if one.tool is None or not one.searches:
        return PlanDraft(tasks=[conclusion_task(_fresh(task, node), one, ())])
    hop = retry_search(one, one.searches[-1], min(tries, 2), task.feedback)
    first = _fresh(task, node)
    found = search_task(hop, one.tool, {hop.id: first}, hits=MORE_HITS)
    if not one.concludes:
        return PlanDraft(tasks=[found])
    last = conclusion_task(_fresh(task, node, taken=first), one, ((first, hop.wants[0]),))
    return PlanDraft(tasks=[found, last])


def _is_search(task: Task) -> bool:
    return bool(task.tool)


def _fresh(task: ReplannerTask, node: str, taken: str = "") -> str:
    """The next number of the agent's steps."""
    used = {*task.used_ids, *(each.id for each in task.current_plan), taken}
    at = 1 + sum(name.startswith(f"{node}.") for name in used)
    while f"{node}.{at}" in used:
        at += 1
    return f"{node}.{at}"


def _as_plan_of_its_own(task: ReplannerTask, node: str, one: SearchAgenda) -> ReplannerTask:
    """The task as if the agent's steps were a plan of their own: `T3.1` is `T1`."""

    def short(name: str) -> str:
        return f"T{name.removeprefix(f'{node}.')}" if name.startswith(f"{node}.") else name

    listed = tuple(each.with_id(short(each.id)) for each in task.current_plan)
    return task.model_copy(
        update={
            "question": one.question.text,
            "failed_task_id": short(task.failed_task_id),
            "replaced": tuple(short(each) for each in task.replaced),
            "used_ids": tuple(short(each) for each in task.used_ids),
            "current_plan": listed,
        }
    )


def _with_agent_ids(draft: PlanDraft, node: str) -> PlanDraft:
    return draft.model_copy(update={"tasks": [_renamed(each, node) for each in draft.tasks]})


def _renamed(task: DraftTask, node: str) -> DraftTask:
    def full(name: str) -> str:
        return f"{node}.{name.removeprefix('T')}"

    inputs = [
        each.model_copy(update={"value": _REFERRED.sub(rf"<JSON_PATH>{node}.\1.", each.value)})
        if isinstance(each.value, str)
        else each
        for each in task.inputs
    ]
    return task.model_copy(
        update={
            "id": full(task.id),
            "depends_on": [full(each) for each in task.depends_on],
            "inputs": inputs,
        }
    )
