"""The node planner by rules: all steps of one agent, what it means to reach, and its other ways."""

from dataclasses import replace

from models.plan import Expected
from roles.drafts import DraftExpected, DraftInput, DraftTask, PlanDraft
from roles.extractive.agenda import Agenda, agenda_of, inputs_of, whole_search
from roles.extractive.planning import Step, keywords, reference, search
from roles.extractive.questions import Shape
from roles.extractive.replanning import MORE_HITS, fresh_words, relaxed
from roles.node_planner import NodeTask, Objectives
from roles.reasoner import Given

TRIES = 3
"""Ways to ask for one thing; after the last one it is given up."""


def plan_node(task: NodeTask) -> PlanDraft:
    """All steps that resolve the sub-question; behind a trace one more search, another way."""
    one = agenda_of(task)
    begun = sum(bool(step.action) for step in task.trace)
    if not one.hops:
        return PlanDraft(explanation=_CONCLUDES, tasks=[concluding(_next(task), one, ())])
    if begun:
        last = next((step.failure for step in reversed(task.trace) if step.failure), "")
        return steps_of(
            replace(one, hops=(another_way(one, one.hops[-1], 2, last),)), task, MORE_HITS
        )
    hinted = " ".join(task.hints)
    return steps_of(_hinted(one, hinted), task, MORE_HITS if hinted else 0)


_CONCLUDES = "What is given is enough: the conclusion from it."
_SEARCHES = "A search for each thing that is not known, then what was promised."


def steps_of(one: Agenda, task: NodeTask, hits: int = 0) -> PlanDraft:
    """The agenda's searches under the node's ids, and the conclusion if the answer is asked."""
    if one.tool is None:
        return PlanDraft(tasks=[concluding(_next(task), one, ())])
    first = len(_taken(task)) + 1
    ids = {hop.id: f"{task.node}.{first + at}" for at, hop in enumerate(one.hops)}
    drafts = [search(hop, one.tool, ids, hits=hits) for hop in one.hops]
    if one.concludes:
        last = f"{task.node}.{first + len(one.hops)}"
        values = tuple((ids[hop.id], hop.wants[0]) for hop in one.closing)
        drafts.append(concluding(last, one, values))
    return PlanDraft(explanation=_SEARCHES, tasks=drafts)


def concluding(
    task_id: str, one: Agenda, found: tuple[tuple[str, DraftExpected], ...]
) -> DraftTask:
    """The deduction of what is promised, from what steps find; from what is given if none does."""
    inputs = [DraftInput(name=each.name, value=reference(at, each.name)) for at, each in found]
    if not found:
        inputs = [DraftInput(name=each.name, value=each.value) for each in _once(inputs_of(one))]
    return DraftTask(
        id=task_id, kind="reasoning", description=f"Answer: {one.question.text}"[:500],
        inputs=inputs, depends_on=list(dict.fromkeys(at for at, _ in found)), priority=3,
        include_context=bool(found), expects=[_promised(each) for each in one.expects],
    )  # fmt: skip


def another_way(one: Agenda, hop: Step, attempt: int, feedback: str) -> Step:
    """How a search that found nothing is made again: with other words, then for a passage."""
    fresh = fresh_words(feedback)
    if attempt <= 0:
        return hop
    if one.question.pair is not None and one.concludes:
        again = replace(hop, query=hop.about)
        return again if attempt == 1 else relaxed(again, one.question)
    if attempt > 1 and one.concludes:
        return whole_search(one)
    words = fresh if attempt == 1 else f"{keywords(one.question.text)} {fresh}"
    return replace(hop, query=" ".join(f"{hop.query} {words}".split()))


def objectives(task: NodeTask) -> Objectives:
    """What to know, one thing after the other."""
    one = agenda_of(task)
    known = [f"Know the {_thing(hop)}" for hop in one.hops] or ["Read all that is given"]
    return Objectives(objectives=[*known, _CLOSING_OBJECTIVE])


def repair(task: NodeTask) -> Objectives:
    """The same end by way of a passage."""
    one = agenda_of(task)
    if one.question.shape is Shape.DIRECT or not one.hops:
        return Objectives(objectives=[_PASSAGE_OBJECTIVE, _CLOSING_OBJECTIVE])
    known = [f"Know from another source the {_thing(hop)}" for hop in one.hops]
    return Objectives(objectives=[*known, _CLOSING_OBJECTIVE])


_PASSAGE_OBJECTIVE = "Know the passage that says most of what is asked"
_CLOSING_OBJECTIVE = "Know what was promised, each value with where it stands"


def _thing(hop: Step) -> str:
    return f"{hop.wants[0].name.replace('_', ' ')}: {hop.about}"


def _hinted(one: Agenda, hints: str) -> Agenda:
    """The agenda of another attempt: asked with what the last one left open."""
    words = keywords(hints)
    if not words or not one.hops:
        return one
    first = replace(one.hops[0], query=f"{one.hops[0].query} {words}")
    return replace(one, hops=(first, *one.hops[1:]))


def _taken(task: NodeTask) -> set[str]:
    return {*task.used_ids, *(step.id for step in task.trace)}


def _next(task: NodeTask) -> str:
    return f"{task.node}.{len(_taken(task)) + 1}"


def _once(given: tuple[Given, ...]) -> list[Given]:
    """Each under a name of its own: two sub-questions may find values of the same name."""
    names: dict[str, Given] = {}
    for each in given:
        name = each.name
        while name in names:
            name = f"{name}_2"
        names[name] = each.model_copy(update={"name": name})
    return list(names.values())


def _promised(entity: Expected) -> DraftExpected:
    return DraftExpected(**entity.model_dump())
