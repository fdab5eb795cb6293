"""Turn the first queries of an agent task into its first steps, which no model has to write."""

from holdfast.models.plans.research_plan import ExpectedEntity, Task
from holdfast.planning.context.agent_context import AgentContext
from holdfast.planning.loop.loop_steps import LoopSteps
from holdfast.planning.loop.loop_tools import LoopTools

ACCOUNT = (ExpectedEntity(name="finding", description="what the answer says on this question"),)
"""What a step is to find where nothing else is named: no promise of an agent task is met by it."""


def planned_searches(view: AgentContext, *, extracts: bool) -> tuple[Task, ...]:
    """Return the searches that the plan begins with; none without a search tool, or later on.

    Each looks for all that the task promises. Where several share this, none must find all.

    Raises:
        Unresolved: a query refers to nothing.
    """
    tools = LoopTools.of(view.tools)
    queries = view.first_queries
    if not queries or tools.search is None:
        return ()
    steps = LoopSteps(view.task.id, tools, used=0).first_search("", queries)
    wanted = _wanted(view, is_alone=len(steps) == 1) if extracts else ()
    # The extractor is told the sub-question; the query is among the step's arguments.
    told = {"description": view.task.description, "expects": wanted}
    return tuple(step.model_copy(update=told) for step in steps)


def _wanted(view: AgentContext, *, is_alone: bool) -> tuple[ExpectedEntity, ...]:
    is_account = not view.task.promised_values and not view.task.is_final
    promised = ACCOUNT if is_account else view.task.expects
    if is_alone:
        return promised
    return tuple(each.model_copy(update={"required": False}) for each in promised)
