"""Replanner by rules: search again with new words, then accept a passage as the value."""

import re
from dataclasses import replace
from string import ascii_lowercase

from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.plans.research_plan import Task, TaskStatus
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.planning.plans.search_tool_choice import SearchTool, search_tool
from holdfast.roles.extractive.extraction.entity_query import is_known
from holdfast.roles.extractive.planning.planner_rules import (
    TELLING_PASSAGE,
    SearchStep,
    answer_entity,
    closing_steps,
    closing_task,
    entity_reference,
    keywords,
    passage_entity,
    question_without_type,
    search_task,
    steps_for,
    support_entity,
)
from holdfast.roles.extractive.questions.question_analysis import (
    ParsedQuestion,
    QuestionShape,
    parse_question,
)
from holdfast.roles.extractive.text.value_candidates import proper_names
from holdfast.roles.extractive.text.words_and_sentences import stems

_ID = re.compile(r"^(.*?\d+)([a-z]*)$")
_FRESH = re.compile(r"Words worth a new query: ([^\n]*?)\.(?:\s|$)")
_MOST_FRESH = 4
MORE_HITS = 10
"""The limit of a repeated search: it reads further down the list."""


def replan_by_rules(task: ReplannerTask) -> PlanDraft:
    """The continuation: first with new query words, then for a passage instead of a value."""
    question = parse_question(task.question)
    tool = search_tool(task.tools)
    if tool is None:
        return PlanDraft(tasks=[closing_task(_fresh_id("T1", task), question, [])])
    steps = {step.id: step for step in steps_for(question)}
    failed = steps.get(_base(task.failed_task_id))
    is_first = _attempt(task.failed_task_id) == 1 and question.shape is QuestionShape.CHAIN
    if failed is None or (_is_whole(failed, question) and not is_first):
        return _start_over(question, task, tool)
    return _again(question, task, tool)


def _is_whole(failed: SearchStep, question: ParsedQuestion) -> bool:
    """True if all other steps depend on the failed one."""
    return question.pair is None and not failed.after


def _attempt(task_id: str) -> int:
    """1 for the first continuation of a task, 2 for the continuation of that."""
    found = _ID.match(task_id)
    return 1 + len(found.group(2)) if found and found.group(2) == "" else 2


def _base(task_id: str) -> str:
    found = _ID.match(task_id)
    return found.group(1) if found else task_id


def _fresh_id(base: str, task: ReplannerTask) -> str:
    """`T2` becomes `T2a`, then `T2b`, and so on."""
    used = _taken(task)
    endings = [*ascii_lowercase, *(f"{a}{b}" for a in ascii_lowercase for b in ascii_lowercase)]
    return next(f"{base}{end}" for end in endings if f"{base}{end}" not in used)


def _taken(task: ReplannerTask) -> set[str]:
    return set(task.used_ids) | {each.id for each in task.current_plan}


def new_query_words(feedback: str) -> str:
    """The new query words that an extraction's summary names."""
    found = _FRESH.search(feedback)
    return " ".join(found.group(1).split(", ")[:_MOST_FRESH]) if found else ""


def _ids(question: ParsedQuestion, task: ReplannerTask) -> dict[str, str]:
    """The id of each original step: a new id if the step is replaced."""
    gone = {_base(each) for each in (*task.replaced, task.failed_task_id)}
    ids: dict[str, str] = {}
    for step in steps_for(question):
        ids[step.id] = _fresh_id(step.id, task) if step.id in gone else _live(step.id, task)
    return ids


def _live(base: str, task: ReplannerTask) -> str:
    """The present id of a step that stays in the plan."""
    named = [
        each.id for each in task.current_plan if _is_usable(each) and each.id not in task.replaced
    ]
    return next((each for each in reversed(named) if _base(each) == base), base)


def _is_usable(task: Task) -> bool:
    """True if the task has a result or may still get one."""
    return task.status is not TaskStatus.FAILED and not task.status.is_discarded


def _again(question: ParsedQuestion, task: ReplannerTask, tool: SearchTool) -> PlanDraft:
    """The same steps under new ids; the failed one with another query."""
    steps, ids = steps_for(question), _ids(question, task)
    taken = _taken(task)
    relaxes = _attempt(task.failed_task_id) > 1
    goes_on = [
        relax_step(_widened(step, task, question), question)
        if relaxes and _is_failed(step, task)
        else _widened(step, task, question)
        for step in steps
    ]
    drafts = [
        search_task(step, tool, ids, hits=MORE_HITS if _is_failed(step, task) else 0)
        for step in goes_on
        if ids[step.id] not in taken
    ]
    values = [(ids[step.id], step.wants[0]) for step in closing_steps(question, tuple(goes_on))]
    last = closing_task(_fresh_id(f"T{len(steps) + 1}", task), question, values)
    return PlanDraft(explanation=_RELAXES if relaxes else _WIDENS, tasks=[*drafts, last])


_WIDENS = "Nothing fit was found: the query goes on with words from what was read."
_RELAXES = "No value stands near what is asked: the passage that says most is taken instead."


def _is_failed(step: SearchStep, task: ReplannerTask) -> bool:
    return step.id == _base(task.failed_task_id)


def _widened(step: SearchStep, task: ReplannerTask, question: ParsedQuestion) -> SearchStep:
    if not _is_failed(step, task):
        return step
    if question.pair is not None:
        return replace(step, query=step.about)
    return replace(step, query=f"{step.query} {new_query_words(task.feedback)}".strip())


def promises_passage(task: Task) -> bool:
    """True if the task is content with a passage, as `relax_step` makes it."""
    first = task.expects[0] if task.expects else None
    return first is not None and (
        first.name == TELLING_PASSAGE or first.description.startswith(_MENTION)
    )


_MENTION = "mention of "
"""The beginning of what one side of a comparison is content with, after a value was not found."""


def relax_step(step: SearchStep, question: ParsedQuestion) -> SearchStep:
    """The step with a passage as its required entity and the value as an optional one."""
    first = step.wants[0]
    if question.pair is not None:
        _, _, subject = first.description.partition(" of ")
        return replace(step, wants=(passage_entity(f"{_MENTION}{subject}", name=first.name),))
    about = first.description.partition(": ")[2]
    value = first.model_copy(update={"required": False})
    return replace(step, wants=(passage_entity(f"passage: {about}"), value, *step.wants[1:]))


def _start_over(question: ParsedQuestion, task: ReplannerTask, tool: SearchTool) -> PlanDraft:
    """One search for the whole question that requires only a passage, in words not tried before."""
    query, is_new = _next_query(question, task)
    told = passage_entity(f"passage: {question_without_type(question)}")
    wants = (told, answer_entity(question, required=False), support_entity(question))
    base, end = _base(task.failed_task_id), f"T{len(steps_for(question)) + 1}"
    first = _fresh_id("T1" if base == end else base, task)
    known = _found_first(question, task)
    ids = {"T1": first, "T0": known[0] if known else ""}
    step = SearchStep("T1", query, wants, question.text)
    if known is not None:
        step = replace(step, after="T0", query=f"{known[1]} {query}")
    last = closing_task(_fresh_id(end, task), question, [(first, told)])
    found = search_task(step, tool, ids, hits=MORE_HITS)
    if _keeps_its_end(task):
        return PlanDraft(explanation=_RELAXES, tasks=[found])
    earlier = None if is_new else _last_passage_search(task)
    if earlier is not None:
        last = closing_task(_fresh_id(end, task), question, [(earlier, told)])
        return PlanDraft(explanation=_TRIED, tasks=[last])
    return PlanDraft(explanation=_RELAXES, tasks=[found, last])


_TRIED = "It was searched for in every way: the answer can only come from what was found."


def _next_query(question: ParsedQuestion, task: ReplannerTask) -> tuple[str, bool]:
    """The first query that no task of the plan has made, and True; the first one if all were."""
    whole, named = keywords(question.text), proper_names(question.text)
    queries = (
        f"{whole} {new_query_words(task.feedback)}",
        f"{whole} {_names_in_passages(question, task)}",
        keywords(question_without_type(question)),
        " ".join(each.value for each in named),
    )
    made = {_query_stems(str(given.value)) for each in task.current_plan for given in each.inputs}
    usable = [" ".join(each.split()) for each in queries if each.strip()]
    new = [each for each in usable if _query_stems(each) not in made]
    return (new or usable or [""])[0], bool(new)


def _query_stems(query: str) -> frozenset[str]:
    return frozenset(stems(_REFERENCE.sub(" ", query)))


_REFERENCE = re.compile(r"<JSON_PATH>.*?</JSON_PATH>")


def _names_in_passages(question: ParsedQuestion, task: ReplannerTask) -> str:
    """The names in the passages found so far that the question does not say."""
    asked = frozenset(stems(question.text))
    passages = (str(each.result.get(TELLING_PASSAGE, "")) for each in task.current_plan)
    names = (name for passage in passages for name in proper_names(passage))
    fresh = (each.value for each in names if not is_known(each, asked))
    return " ".join(list(dict.fromkeys(fresh))[:_MOST_FRESH])


def _last_passage_search(task: ReplannerTask) -> str | None:
    """The last finished task that found a passage and stays in the plan."""
    found = (
        each.id
        for each in reversed(task.current_plan)
        if each.status is TaskStatus.DONE
        and each.id not in task.replaced
        and each.result.get(TELLING_PASSAGE)
    )
    return next(found, None)


def _found_first(question: ParsedQuestion, task: ReplannerTask) -> tuple[str, str] | None:
    """The finished task that found the described thing, and a reference to its value.

    A relaxed search may be done without it: the value is optional there.
    """
    if question.shape is not QuestionShape.CHAIN:
        return None
    first = steps_for(question)[0]
    done = [
        each.id
        for each in task.current_plan
        if each.status is TaskStatus.DONE
        and each.id not in task.replaced
        and _base(each.id) == first.id
        and first.wants[0].name in each.result
    ]
    return (done[-1], entity_reference("T0", first.wants[0].name)) if done else None


def _keeps_its_end(task: ReplannerTask) -> bool:
    """True if the plan's closing task is not replaced."""
    gone = {*task.replaced, task.failed_task_id}
    return any(_is_end(each) and each.id not in gone for each in task.current_plan)


def _is_end(task: Task) -> bool:
    return task.is_final and not task.status.is_discarded
