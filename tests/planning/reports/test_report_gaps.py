"""Tests for the words of a report's gaps: what was asked, without the ids of tasks."""

import pytest

from holdfast.models.errors import FailureClass
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.task_failure import Component, Failure
from holdfast.models.verification.verification_verdicts import Completeness, Verification
from holdfast.planning.reports.report_gaps import (
    incomplete_gap,
    is_unconcluded,
    retracted_gap,
    unfinished_gap,
)
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task

BORN = agent_task("T1", about="Where was she born? [1]", yields="birthplace")
DIED = agent_task("T2", about="Where did she die?", yields="place")
VERDICT = Verification(
    task_id="T2",
    status=Completeness.PARTIAL,
    completeness=0.5,
    confidence=0.6,
    missing=("the town", "the year"),
)


def test_a_gap_says_what_was_asked_and_names_no_task() -> None:
    assert unfinished_gap(BORN) == "Not found: Where was she born?"
    assert incomplete_gap(DIED, VERDICT) == (
        "Not complete: Where did she die? (missing: the town, the year)"
    )
    assert retracted_gap(DIED, ()) == "The evidence was retracted: Where did she die?"
    assert retracted_gap(DIED, [BORN]).endswith("(found from it: Where was she born? [1])")


def test_a_gap_names_what_was_to_be_found_without_the_order_to_find_it() -> None:
    orders = (
        "Answer: When does it end?",
        "Search for: the end",
        "Find the end",
        "Findings of 2025",
    )
    tasks = [lookup_task("T1").model_copy(update={"description": each}) for each in orders]

    assert [unfinished_gap(task) for task in tasks] == [
        "Not found: When does it end?",
        "Not found: the end",
        "Not found: the end",
        "Not found: Findings of 2025",
    ]


def failure(message: str, **fields: object) -> Failure:
    return Failure(
        component=Component.REASONER,
        failure_class=FailureClass.SEMANTIC,
        message=message,
        **fields,
    )


MISTYPED = failure(
    "Entity 'final_answer' has not its declared type. The reasoner says: both are named",
    mistyped=("final_answer",),
    reason="both are named",
)
UNSTATED = failure(
    "Entity 'final_answer' was not found. The reasoner says: no year is given",
    missing=("final_answer",),
    reason="no year is given",
)
SILENT = failure("Entity 'final_answer' was not found.", missing=("final_answer",))
INVALID = failure("The reasoner gave no valid answer: it is no JSON")


@pytest.mark.conformance("REP-02")
@pytest.mark.parametrize(
    ("why", "told", "is_of_the_model"),
    [
        (MISTYPED, "the answer has not its declared type. The reasoner says: both are named", True),
        (UNSTATED, "no year is given", False),
        (SILENT, "the answer was not found.", False),
        (INVALID, "The reasoner gave no valid answer: it is no JSON", True),
    ],
)
def test_a_conclusion_that_failed_says_why_and_no_document_is_missing_for_its_form(
    why: Failure, told: str, is_of_the_model: bool
) -> None:
    last = final_task("T3", "T1").with_status(TaskStatus.FAILED)

    assert unfinished_gap(last, why) == f"The short answer could not be concluded: {told}"
    assert is_unconcluded(last, why) is is_of_the_model
    assert not is_unconcluded(lookup_task("T1", status=TaskStatus.FAILED), why)
    assert unfinished_gap(lookup_task("T1"), why).startswith("Not found: ")
