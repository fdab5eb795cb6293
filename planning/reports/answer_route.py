"""Find the route by which a job came to its answer: what a calibration rates.

The route says more than the confidence of the values: of answers by one route the share that is
right is much the same on other questions, while a reader is as sure of a wrong value as of a right
one (docs/evaluation.md, Confidence).
"""

import re
from collections.abc import Iterable

from holdfast.models.errors import Unresolved
from holdfast.models.evidence.answer_routes import AnswerRoute
from holdfast.models.plans.research_plan import Plan, Task, TaskKind, TaskStatus
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.planning.plans.plan_graph import upstream_tasks
from holdfast.planning.reports.stated_answers import TitledQuote, is_stated

LONGEST_SHORT_ANSWER = 8
"""The most words of a short answer."""
_FEW_SEARCHES = 2
"""A loop that finds what it looks for needs one search for each of two links."""
_LEAST_LETTERS = 3
"""A shorter word, as `of`, says nothing when the answer and the question share it."""
_OPEN = re.compile(
    r"\bwhy\b|\bhow\b(?!\s+(?:many|much|old|long|tall|far|large|big|high|wide|often|deep|heavy|thick)\b)"
    r"|^\W*(?:summari[sz]e|describe|explain|discuss|compare|list|tell)\b|\bwhat is known\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)


def answer_route(
    plan: Plan,
    question: str,
    answer: str,
    quotes: Iterable[TitledQuote] = (),
    *,
    is_of_loop: bool = False,
) -> AnswerRoute:
    """Return the route of the job's answer.

    `quotes` are those that the report cites; `is_of_loop` if a cited loop's answer is the report.
    """
    by_answer = _route_of_text(question, answer)
    if by_answer is not None:
        return by_answer
    final = next((task for task in plan.live if task.is_final and not task.parent), None)
    values = () if final is None else _input_values(plan, final)
    is_echo = _is_echo(question, answer)
    if is_echo and (len(values) > 1 or _OR.search(question)):
        return AnswerRoute.CHOSEN
    if is_stated(question, answer, quotes):
        return AnswerRoute.STATED
    if is_of_loop:
        return AnswerRoute.LONG_LOOP if _searches(plan) > _FEW_SEARCHES else AnswerRoute.LOOP
    if final is None:
        return AnswerRoute.CONCLUDED
    if final.kind is TaskKind.AGENT or not values:
        return AnswerRoute.REPLANNED if _has_replaced(plan) else AnswerRoute.AGENT
    if len(values) > 1:
        return AnswerRoute.SHARED
    return AnswerRoute.ECHOED if is_echo else _route_of_value(plan, final, values[0])


def _route_of_text(question: str, answer: str) -> AnswerRoute | None:
    """The route that the question and the answer show by themselves."""
    if _OPEN.search(question):
        return AnswerRoute.OPEN
    if len(answer.split()) > LONGEST_SHORT_ANSWER:
        return AnswerRoute.SENTENCE
    if answer.strip(" .").casefold() in ("yes", "no"):
        return AnswerRoute.YES_OR_NO
    return None


def _route_of_value(plan: Plan, final: Task, value: str) -> AnswerRoute:
    """The route of an answer that one value of an earlier task gave."""
    if len(value.split()) > LONGEST_SHORT_ANSWER:
        return AnswerRoute.PASSAGE
    if _has_replaced(plan):
        return AnswerRoute.REPLANNED
    searches = upstream_tasks(plan, final.id) - {final.id}
    return AnswerRoute.CHAINED if len(searches) > 1 else AnswerRoute.DIRECT


def _has_replaced(plan: Plan) -> bool:
    """True if a task of the plan, not a step, failed or was replaced."""
    failed = (TaskStatus.FAILED, TaskStatus.SUPERSEDED)
    return any(task.status in failed for task in plan.tasks if not task.parent)


def _searches(plan: Plan) -> int:
    """How many tools the loop called: its steps."""
    return sum(bool(task.parent) for task in plan.tasks)


def _input_values(plan: Plan, task: Task) -> tuple[str, ...]:
    """The task's inputs as text, without those that no longer have a value."""
    memory = {each.id: dict(each.result) for each in plan.tasks}
    values = []
    for each in task.inputs:
        try:
            values.append(value_as_text(resolve_references(each.value, memory)))
        except Unresolved:
            continue
    return tuple(values)


def _is_echo(question: str, answer: str) -> bool:
    """True if at least half of the answer's words stand in the question; `512 people` is none."""
    said, asked = _words(answer), _words(question)
    has_own_number = any(word.isdigit() for word in said - asked)
    return bool(said) and not has_own_number and 2 * len(said & asked) >= len(said)


def _words(text: str) -> set[str]:
    found = re.findall(r"\w+", text.casefold())
    return {word for word in found if len(word) >= _LEAST_LETTERS or word.isdigit()}
