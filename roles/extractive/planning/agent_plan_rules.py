"""Planner of agent tasks by rules: turn each search into an agent task."""

from collections.abc import Sequence

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.plan_drafts import AgentPlanDraft, DraftExpected, DraftNode, DraftTask
from holdfast.models.plans.research_plan import FINAL_ANSWER
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.strategies.job_strategy import GENERALIST
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.roles.extractive.planning.planner_rules import (
    FIND_PREFIX,
    TELLING_PASSAGE,
    closing_task,
    plan_by_rules,
)
from holdfast.roles.extractive.planning.replanner_rules import (
    new_query_words,
    promises_passage,
    replan_by_rules,
)
from holdfast.roles.extractive.planning.search_agenda import parse_specification, with_query_words
from holdfast.roles.extractive.questions.question_analysis import ParsedQuestion, parse_question
from holdfast.roles.extractive.text.noun_kinds import SEARCH_PREFIX
from holdfast.roles.planning.planner import PlannerTask

_SEARCHER, _THINKER = "rag", "reasoning"


def plan_agent_tasks(task: PlannerTask) -> AgentPlanDraft:
    """An agent task for each search of the question, and one for the conclusion."""
    draft = plan_by_rules(PlannerTask(question=task.question, tools=_tools(task.agents)))
    question = parse_question(task.question)
    nodes = [_agent_task(each, question, task, "") for each in draft.tasks if each.tool]
    if task.concludes or not nodes:
        nodes.append(_conclusion(draft.tasks[-1], question, task))
    if not task.concludes:
        nodes = [_without_final_answer(each) for each in nodes]
    return AgentPlanDraft(explanation=draft.explanation, tasks=nodes)


def replan_agent_tasks(task: ReplannerTask) -> AgentPlanDraft:
    """Agent tasks that replace a failed one: with other words, then for a passage, then none."""
    if _is_tried_in_every_way(task):
        return AgentPlanDraft(explanation=_NO_WAY_LEFT, tasks=[])
    draft = replan_by_rules(task.model_copy(update={"tools": _tools(task.agents)}))
    question = parse_question(task.question)
    fresh = new_query_words(task.feedback)
    failed = task.failed_task_id.rstrip("abcdefghijklmnopqrstuvwxyz")
    nodes = [
        _agent_task(each, question, task, fresh if each.id.startswith(failed) else "")
        for each in draft.tasks
        if each.tool
    ]
    ends = [each for each in draft.tasks if not each.tool]
    if ends and (_replaces_end(task) or not nodes):
        nodes.append(_conclusion(ends[-1], question, task))
    return AgentPlanDraft(explanation=draft.explanation, tasks=nodes)


def _is_tried_in_every_way(task: ReplannerTask) -> bool:
    """True if the failed task searched for a passage in other words, or no other words are known.

    What the task promised and searched for says so, and not its id: a rejected continuation takes
    an id as well.
    """
    failed = next((each for each in task.current_plan if each.id == task.failed_task_id), None)
    if failed is None or not promises_passage(failed):
        return False
    words_tried = parse_specification(failed.description)[2]
    return bool(words_tried) or not new_query_words(task.feedback)


_NO_WAY_LEFT = "It was searched for in other words and for a passage; no other way is left."


def _without_final_answer(node: DraftNode) -> DraftNode:
    """The agent task without the entity `final_answer`."""
    kept = [each for each in node.expects if each.name != FINAL_ANSWER]
    return node.model_copy(update={"expects": kept})


def _tools(agents: Sequence[AgentBrief]) -> tuple[ToolSignature, ...]:
    """A placeholder search tool: of the agents' tools only the names are known."""
    return (_SEARCH,) if any(each.tools for each in agents) else ()


_SEARCH = ToolSignature(
    name="search",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)


def _replaces_end(task: ReplannerTask) -> bool:
    gone = {*task.replaced, task.failed_task_id}
    return any(
        each.id in gone and FINAL_ANSWER in {promised.name for promised in each.expects}
        for each in task.current_plan
    )


def _agent_task(
    search: DraftTask, question: ParsedQuestion, task: PlannerTask | ReplannerTask, near: str
) -> DraftNode:
    """The agent task for a search."""
    first = search.expects[0]
    return DraftNode(
        id=search.id,
        description=with_query_words(_stand_alone(search, question), near),
        agent=_searching(task),
        criteria=_criteria(first),
        depends_on=list(search.depends_on),
        expects=list(search.expects),
        priority=search.priority,
    )


def _stand_alone(search: DraftTask, question: ParsedQuestion) -> str:
    """The task's description in words that stand alone."""
    about = search.description.removeprefix(SEARCH_PREFIX)
    if question.pair is not None and about in question.pair:
        return f"{FIND_PREFIX}{search.expects[0].description}"
    if about == question.text[: len(about)]:
        return question.text
    return f"{FIND_PREFIX}{about}"


def _criteria(wanted: DraftExpected) -> str:
    if wanted.name == TELLING_PASSAGE:
        return "A passage that says what is asked, letter by letter."
    return f"One {wanted.name.replace('_', ' ')}, with the sentence that states it."


def _conclusion(
    last: DraftTask, question: ParsedQuestion, task: PlannerTask | ReplannerTask
) -> DraftNode:
    """The agent task that concludes from the other tasks."""
    names = [each.name for each in task.agents]
    agent = _THINKER if _THINKER in names else _searching(task)
    ends = closing_task(last.id, question, []).expects
    return DraftNode(
        id=last.id,
        description=question.text,
        agent=agent,
        depends_on=list(last.depends_on),
        criteria="Short and complete, and it follows from what was found.",
        expects=ends,
        priority=3,
    )


def _searching(task: PlannerTask | ReplannerTask) -> str:
    """The agent that searches; one for the user's own documents comes first."""
    names = [each.name for each in task.agents]
    if _SEARCHER in names:
        return _SEARCHER
    able = [each.name for each in task.agents if any("search" in tool for tool in each.tools)]
    return [*able, *(name for name in names if name == GENERALIST), *names][0]
