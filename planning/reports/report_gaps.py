"""Word the gaps that a report names: by what was asked, without the ids of tasks."""

import re
from collections.abc import Iterable

from holdfast.models.plans.research_plan import Task, TaskKind, TaskStatus
from holdfast.models.tasks.task_failure import Failure
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.planning.results.kpi_failure import failure_in_words

_ORDER = re.compile(r"(?:Answer|Search for): |Find (?:out )?(?=\w)")
"""How the description of a task begins that says what to do."""
_LONGEST_REASON = 300


def _subject(description: str) -> str:
    """Return what was to be found, without the order to find it."""
    return _ORDER.sub("", description, count=1) if _ORDER.match(description) else description


def unfinished_gap(task: Task, failure: Failure | None = None) -> str:
    """Return the gap of a task without a result.

    A last task that concludes from what the others found searches for nothing: its gap is why it
    failed.
    """
    if _concludes(task) and failure is not None:
        return f"The short answer could not be concluded: {without_marks(_why(failure))}"
    return f"Not found: {without_marks(_subject(task.description))}"


def is_unconcluded(task: Task, failure: Failure | None) -> bool:
    """True if the task failed to conclude from what was found, and nobody says what is missing.

    The model gave an answer of another type or no valid one, or no model answered.
    """
    if failure is None or task.status is not TaskStatus.FAILED or not _concludes(task):
        return False
    return not (failure.missing or failure.weak or _says_why(failure))


def _concludes(task: Task) -> bool:
    return task.is_final and task.kind is TaskKind.REASONING


def _says_why(failure: Failure) -> bool:
    """True if the model says why it concluded nothing."""
    return bool(failure.reason) and not failure.mistyped


def _why(failure: Failure) -> str:
    """Return the reason as the model gives it, or else which rule the answer failed."""
    told = failure.reason if _says_why(failure) else failure_in_words(failure.message)
    return shorten_text(" ".join(told.split()), _LONGEST_REASON)


def incomplete_gap(task: Task, verdict: Verification) -> str:
    """Return the gap of a result that lacks an aspect."""
    missing = f" (missing: {', '.join(verdict.missing)})" if verdict.missing else ""
    return f"Not complete: {task.description}{missing}"


def retracted_gap(task: Task, dependents: Iterable[Task]) -> str:
    """Return the gap of a result whose evidence was retracted, with what was found from it."""
    rests = "; ".join(each.description for each in dependents)
    after = f" (found from it: {rests})" if rests else ""
    return f"The evidence was retracted: {task.description}{after}"
