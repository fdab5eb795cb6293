"""Word the gaps that a report names: by what was asked, without the ids of tasks."""

import re
from collections.abc import Iterable

from holdfast.models.plans.research_plan import Task
from holdfast.models.text.report_marks import without_marks
from holdfast.models.verification.verification_verdicts import Verification

_ORDER = re.compile(r"(?:Answer|Search for): |Find (?:out )?(?=\w)")
"""How the description of a task begins that says what to do."""


def _subject(description: str) -> str:
    """Return what was to be found, without the order to find it."""
    return _ORDER.sub("", description, count=1) if _ORDER.match(description) else description


def unfinished_gap(task: Task) -> str:
    """Return the gap of a task without a result."""
    return f"Not found: {without_marks(_subject(task.description))}"


def incomplete_gap(task: Task, verdict: Verification) -> str:
    """Return the gap of a result that lacks an aspect."""
    missing = f" (missing: {', '.join(verdict.missing)})" if verdict.missing else ""
    return f"Not complete: {task.description}{missing}"


def retracted_gap(task: Task, dependents: Iterable[Task]) -> str:
    """Return the gap of a result whose evidence was retracted, with what was found from it."""
    rests = "; ".join(each.description for each in dependents)
    after = f" (found from it: {rests})" if rests else ""
    return f"The evidence was retracted: {task.description}{after}"
