"""The planner of sub-questions by rules: each search of a question becomes one for an agent."""

from collections.abc import Sequence

from models.agents import AgentBrief
from models.plan import FINAL_ANSWER
from models.strategy import GENERALIST
from models.tools import ToolSignature
from roles.drafts import DraftExpected, DraftNode, DraftTask, GraphDraft
from roles.extractive.agenda import with_near
from roles.extractive.lexicon import SEARCH_FOR
from roles.extractive.planning import PASSAGE, closing, plan
from roles.extractive.questions import Question, analyse
from roles.extractive.replanning import fresh_words, replan
from roles.planner import PlannerTask
from roles.replanner import ReplannerTask

_SEARCHER, _THINKER = "rag", "reasoning"


def plan_graph(task: PlannerTask) -> GraphDraft:
    """A sub-question for each search that the question calls for, and the conclusion."""
    draft = plan(PlannerTask(question=task.question, tools=_tools(task.agents)))
    question = analyse(task.question)
    nodes = [_node(each, question, task, "") for each in draft.tasks if each.tool]
    if task.concludes or not nodes:
        nodes.append(_conclusion(draft.tasks[-1], question, task))
    if not task.concludes:
        nodes = [_as_account(each) for each in nodes]
    return GraphDraft(explanation=draft.explanation, tasks=nodes)


def replan_graph(task: ReplannerTask) -> GraphDraft:
    """New sub-questions in the place of a failed one, in other words, then for a passage."""
    draft = replan(task.model_copy(update={"tools": _tools(task.agents)}))
    question = analyse(task.question)
    fresh = fresh_words(task.feedback)
    failed = task.failed_task_id.rstrip("abcdefghijklmnopqrstuvwxyz")
    nodes = [
        _node(each, question, task, fresh if each.id.startswith(failed) else "")
        for each in draft.tasks if each.tool
    ]  # fmt: skip
    ends = [each for each in draft.tasks if not each.tool]
    if ends and (_replaces_end(task) or not nodes):
        nodes.append(_conclusion(ends[-1], question, task))
    return GraphDraft(explanation=draft.explanation, tasks=nodes)


def _as_account(node: DraftNode) -> DraftNode:
    """The same without the final answer, where nobody is to give it."""
    kept = [each for each in node.expects if each.name != FINAL_ANSWER]
    return node.model_copy(update={"expects": kept})


def _tools(agents: Sequence[AgentBrief]) -> tuple[ToolSignature, ...]:
    """A search that stands for those of the agents: of their tools only the names are known."""
    return (_SEARCH,) if any(each.tools for each in agents) else ()


_SEARCH = ToolSignature(
    name="search",
    input_schema={
        "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"],
    },
)  # fmt: skip


def _replaces_end(task: ReplannerTask) -> bool:
    gone = {*task.replaced, task.failed_task_id}
    return any(
        each.get("task_id") in gone and FINAL_ANSWER in str(each.get("expected_output_entities"))
        for each in task.current_plan
    )


def _node(
    search: DraftTask, question: Question, task: PlannerTask | ReplannerTask, near: str
) -> DraftNode:
    """The sub-question that a search answers."""
    first = search.expects[0]
    return DraftNode(
        id=search.id, description=with_near(_stand_alone(search, question), near),
        agent=_searching(task), criteria=_criteria(first), depends_on=list(search.depends_on),
        expects=list(search.expects), priority=search.priority,
    )  # fmt: skip


def _stand_alone(search: DraftTask, question: Question) -> str:
    """The sub-question in words that need nothing else."""
    about = search.description.removeprefix(SEARCH_FOR)
    if question.pair is not None and about in question.pair:
        return f"Find the {search.expects[0].description}"
    if about == question.text[: len(about)]:
        return question.text
    return f"Find the {about}"


def _criteria(wanted: DraftExpected) -> str:
    if wanted.name == PASSAGE:
        return "A passage that says what is asked, letter by letter."
    return f"One {wanted.name.replace('_', ' ')}, with the sentence that states it."


def _conclusion(
    last: DraftTask, question: Question, task: PlannerTask | ReplannerTask
) -> DraftNode:
    """The sub-question that puts the others together."""
    names = [each.name for each in task.agents]
    agent = _THINKER if _THINKER in names else _searching(task)
    ends = closing(last.id, question, []).expects
    return DraftNode(
        id=last.id, description=question.text, agent=agent, depends_on=list(last.depends_on),
        criteria="Short and complete, and it follows from what was found.",
        expects=ends, priority=3,
    )  # fmt: skip


def _searching(task: PlannerTask | ReplannerTask) -> str:
    """The agent that can search: the user's own documents before all else."""
    names = [each.name for each in task.agents]
    if _SEARCHER in names:
        return _SEARCHER
    able = [each.name for each in task.agents if any("search" in tool for tool in each.tools)]
    return [*able, *(name for name in names if name == GENERALIST), *names][0]
