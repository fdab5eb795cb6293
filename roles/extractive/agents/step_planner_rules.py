"""Step planner by rules: plan steps, list and repair objectives, retry searches."""

from dataclasses import replace

from holdfast.models.plans.plan_drafts import DraftExpected, DraftInput, DraftTask, PlanDraft
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.agent_role_task import AgentRoleTask
from holdfast.models.tasks.named_value import NamedValue
from holdfast.roles.extractive.planning.planner_rules import (
    SearchStep,
    entity_reference,
    keywords,
    search_task,
)
from holdfast.roles.extractive.planning.replanner_rules import (
    MORE_HITS,
    new_query_words,
    relax_step,
)
from holdfast.roles.extractive.planning.search_agenda import (
    SearchAgenda,
    agenda_for_agent,
    conclusion_inputs,
    whole_question_search,
)
from holdfast.roles.extractive.questions.question_analysis import QuestionShape
from holdfast.roles.planning.agent_steps_planner import Objectives

MOST_TRIES = 3
"""How often one thing is searched for before the agent gives up."""


def plan_steps(task: AgentRoleTask) -> PlanDraft:
    """The steps that resolve the agent task; after a trace, one more search in other words."""
    one = agenda_for_agent(task)
    begun = sum(bool(step.action) for step in task.trace)
    if not one.searches:
        return PlanDraft(explanation=_CONCLUDES, tasks=[conclusion_task(_next(task), one, ())])
    if begun:
        last = next((step.failure for step in reversed(task.trace) if step.failure), "")
        return steps_from_agenda(
            replace(one, searches=(retry_search(one, one.searches[-1], 2, last),)), task, MORE_HITS
        )
    hinted = " ".join(task.hints)
    return steps_from_agenda(_hinted(one, hinted), task, MORE_HITS if hinted else 0)


_CONCLUDES = "What is given is enough: the conclusion from it."
_SEARCHES = "A search for each thing that is not known, then what was promised."


def steps_from_agenda(one: SearchAgenda, task: AgentRoleTask, hits: int = 0) -> PlanDraft:
    """The agenda's searches as steps, and the conclusion if the task asks for the answer."""
    if one.tool is None:
        return PlanDraft(tasks=[conclusion_task(_next(task), one, ())])
    first = len(_taken(task)) + 1
    ids = {hop.id: f"{task.node}.{first + at}" for at, hop in enumerate(one.searches)}
    drafts = [search_task(hop, one.tool, ids, hits=hits) for hop in one.searches]
    if one.concludes:
        last = f"{task.node}.{first + len(one.searches)}"
        values = tuple((ids[hop.id], hop.wants[0]) for hop in one.closing)
        drafts.append(conclusion_task(last, one, values))
    return PlanDraft(explanation=_SEARCHES, tasks=drafts)


def conclusion_task(
    task_id: str, one: SearchAgenda, found: tuple[tuple[str, DraftExpected], ...]
) -> DraftTask:
    """The reasoning step that deduces the outputs from found or given values."""
    inputs = [
        DraftInput(name=each.name, value=entity_reference(at, each.name)) for at, each in found
    ]
    if not found:
        inputs = [
            DraftInput(name=each.name, value=each.value) for each in _once(conclusion_inputs(one))
        ]
    return DraftTask(
        id=task_id,
        kind="reasoning",
        description=f"Answer: {one.question.text}"[:500],
        inputs=inputs,
        depends_on=list(dict.fromkeys(at for at, _ in found)),
        priority=3,
        include_context=bool(found),
        expects=[_promised(each) for each in one.expects],
    )


def retry_search(one: SearchAgenda, hop: SearchStep, attempt: int, feedback: str) -> SearchStep:
    """A failed search in another form: with other words, then for a passage."""
    fresh = new_query_words(feedback)
    if attempt <= 0:
        return hop
    if one.question.pair is not None and one.concludes:
        again = replace(hop, query=hop.about)
        return again if attempt == 1 else relax_step(again, one.question)
    if attempt > 1 and one.concludes:
        return whole_question_search(one)
    words = fresh if attempt == 1 else f"{keywords(one.question.text)} {fresh}"
    return replace(hop, query=" ".join(f"{hop.query} {words}".split()))


def objectives(task: AgentRoleTask) -> Objectives:
    """The objectives of an agent task, one for each search."""
    one = agenda_for_agent(task)
    known = [f"Know the {_thing(hop)}" for hop in one.searches] or ["Read all that is given"]
    return Objectives(objectives=[*known, _CLOSING_OBJECTIVE])


def repair_objectives(task: AgentRoleTask) -> Objectives:
    """The repaired objectives: the same values from another source or passage."""
    one = agenda_for_agent(task)
    if one.question.shape is QuestionShape.DIRECT or not one.searches:
        return Objectives(objectives=[_PASSAGE_OBJECTIVE, _CLOSING_OBJECTIVE])
    known = [f"Know from another source the {_thing(hop)}" for hop in one.searches]
    return Objectives(objectives=[*known, _CLOSING_OBJECTIVE])


_PASSAGE_OBJECTIVE = "Know the passage that says most of what is asked"
_CLOSING_OBJECTIVE = "Know what was promised, each value with where it stands"


def _thing(hop: SearchStep) -> str:
    return f"{hop.wants[0].name.replace('_', ' ')}: {hop.about}"


def _hinted(one: SearchAgenda, hints: str) -> SearchAgenda:
    """The agenda with words from the hints added to its first query."""
    words = keywords(hints)
    if not words or not one.searches:
        return one
    first = replace(one.searches[0], query=f"{one.searches[0].query} {words}")
    return replace(one, searches=(first, *one.searches[1:]))


def _taken(task: AgentRoleTask) -> set[str]:
    return {*task.used_ids, *(step.id for step in task.trace)}


def _next(task: AgentRoleTask) -> str:
    return f"{task.node}.{len(_taken(task)) + 1}"


def _once(given: tuple[NamedValue, ...]) -> list[NamedValue]:
    """The values under distinct names: two tasks may find values of the same name."""
    names: dict[str, NamedValue] = {}
    for each in given:
        name = each.name
        while name in names:
            name = f"{name}_2"
        names[name] = each.model_copy(update={"name": name})
    return list(names.values())


def _promised(entity: ExpectedEntity) -> DraftExpected:
    return DraftExpected(**entity.model_dump())
