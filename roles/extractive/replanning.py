"""The replanner by rules: asks again with words from what was read, and for less each time."""

import re
from dataclasses import replace
from string import ascii_lowercase

from pydantic import JsonValue

from models.plan import FINAL_ANSWER
from roles.drafts import PlanDraft
from roles.extractive.planning import (
    Step,
    asked,
    closing,
    closing_steps,
    keywords,
    passage,
    reference,
    search,
    steps_for,
    support,
    without_type,
)
from roles.extractive.questions import Question, Shape, analyse
from roles.extractive.toolbox import SearchTool, search_tool
from roles.replanner import ReplannerTask

_ID = re.compile(r"^(.*?\d+)([a-z]*)$")
_FRESH = re.compile(r"Words worth a new query: ([^\n]*?)\.(?:\s|$)")
_MOST_FRESH = 4
MORE_HITS = 10
"""A search that is made again reads further down the list."""


def replan(task: ReplannerTask) -> PlanDraft:
    """The continuation: first with words from what was read, then a passage in place of a value."""
    question = analyse(task.question)
    tool = search_tool(task.tools)
    if tool is None:
        return PlanDraft(tasks=[closing(_fresh_id("T1", task), question, [])])
    steps = {step.id: step for step in steps_for(question)}
    failed = steps.get(_base(task.failed_task_id))
    is_first = _attempt(task.failed_task_id) == 1 and question.shape is Shape.CHAIN
    if failed is None or (_is_whole(failed, question) and not is_first):
        return _from_anew(question, task, tool)
    return _again(question, task, tool)


def _is_whole(failed: Step, question: Question) -> bool:
    """Whether the failed step is the one that all the others wait for."""
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
    return set(task.used_ids) | {str(each.get("task_id")) for each in task.current_plan}


def fresh_words(feedback: str) -> str:
    """What an extraction said it would search for next."""
    found = _FRESH.search(feedback)
    return " ".join(found.group(1).split(", ")[:_MOST_FRESH]) if found else ""


def _ids(question: Question, task: ReplannerTask) -> dict[str, str]:
    """Under which id each step of the original plan goes on: a new one where it is replaced."""
    gone = {_base(each) for each in (*task.replaced, task.failed_task_id)}
    ids: dict[str, str] = {}
    for step in steps_for(question):
        ids[step.id] = _fresh_id(step.id, task) if step.id in gone else _live(step.id, task)
    return ids


def _live(base: str, task: ReplannerTask) -> str:
    """The id under which a step that stays is in the plan now."""
    over = {"superseded", "cancelled", "failed"}
    named = [
        str(each.get("task_id")) for each in task.current_plan
        if each.get("execution_status") not in over and each.get("task_id") not in task.replaced
    ]  # fmt: skip
    return next((each for each in reversed(named) if _base(each) == base), base)


def _again(question: Question, task: ReplannerTask, tool: SearchTool) -> PlanDraft:
    """The same steps under new ids; the failed one asks differently."""
    steps, ids = steps_for(question), _ids(question, task)
    taken = _taken(task)
    relaxes = _attempt(task.failed_task_id) > 1
    goes_on = [
        relaxed(_widened(step, task, question), question) if relaxes and _is_failed(step, task)
        else _widened(step, task, question)
        for step in steps
    ]  # fmt: skip
    drafts = [
        search(step, tool, ids, hits=MORE_HITS if _is_failed(step, task) else 0)
        for step in goes_on if ids[step.id] not in taken
    ]  # fmt: skip
    values = [(ids[step.id], step.wants[0]) for step in closing_steps(question, tuple(goes_on))]
    last = closing(_fresh_id(f"T{len(steps) + 1}", task), question, values)
    return PlanDraft(explanation=_RELAXES if relaxes else _WIDENS, tasks=[*drafts, last])


_WIDENS = "Nothing fit was found: the query goes on with words from what was read."
_RELAXES = "No value stands near what is asked: the passage that says most is taken instead."


def _is_failed(step: Step, task: ReplannerTask) -> bool:
    return step.id == _base(task.failed_task_id)


def _widened(step: Step, task: ReplannerTask, question: Question) -> Step:
    if not _is_failed(step, task):
        return step
    if question.pair is not None:
        return replace(step, query=step.about)
    return replace(step, query=f"{step.query} {fresh_words(task.feedback)}".strip())


def relaxed(step: Step, question: Question) -> Step:
    """The step content with a passage; the value itself only if it is there."""
    first = step.wants[0]
    if question.pair is not None:
        _, _, subject = first.description.partition(" of ")
        return replace(step, wants=(passage(f"mention of {subject}", name=first.name),))
    about = first.description.partition(": ")[2]
    value = first.model_copy(update={"required": False})
    return replace(step, wants=(passage(f"passage: {about}"), value, *step.wants[1:]))


def _from_anew(question: Question, task: ReplannerTask, tool: SearchTool) -> PlanDraft:
    """One search for the whole question, content with passages."""
    query = f"{keywords(question.text)} {fresh_words(task.feedback)}".strip()
    told = passage(f"passage: {without_type(question)}")
    wants = (told, asked(question, required=False), support(question))
    base, end = _base(task.failed_task_id), f"T{len(steps_for(question)) + 1}"
    first = _fresh_id("T1" if base == end else base, task)
    known = _found_first(question, task)
    ids = {"T1": first, "T0": known[0] if known else ""}
    step = Step("T1", query, wants, question.text)
    if known is not None:
        step = replace(step, after="T0", query=f"{known[1]} {query}")
    last = closing(_fresh_id(end, task), question, [(first, told)])
    found = search(step, tool, ids, hits=MORE_HITS)
    tasks = [found] if _keeps_its_end(task) else [found, last]
    return PlanDraft(explanation=_RELAXES, tasks=tasks)


def _found_first(question: Question, task: ReplannerTask) -> tuple[str, str] | None:
    """The finished task that found the described thing, and the reference to what it found."""
    if question.shape is not Shape.CHAIN:
        return None
    first = steps_for(question)[0]
    done = [
        str(each.get("task_id")) for each in task.current_plan
        if each.get("execution_status") == "done" and each.get("task_id") not in task.replaced
        and _base(str(each.get("task_id"))) == first.id and first.wants[0].name in _promised(each)
    ]  # fmt: skip
    return (done[-1], reference("T0", first.wants[0].name)) if done else None


def _keeps_its_end(task: ReplannerTask) -> bool:
    """Whether the plan's last deduction is not among what is replaced."""
    gone = {*task.replaced, task.failed_task_id}
    return any(_is_end(each) and each.get("task_id") not in gone for each in task.current_plan)


def _is_end(listing: dict[str, JsonValue]) -> bool:
    over = listing.get("execution_status") in ("superseded", "cancelled")
    return _promised(listing) == [FINAL_ANSWER] and not over


def _promised(listing: dict[str, JsonValue]) -> list[JsonValue]:
    """The names of the entities that the task is to find."""
    promised = listing.get("expected_output_entities")
    some = promised if isinstance(promised, list) else []
    return [each.get("name") for each in some if isinstance(each, dict)]
