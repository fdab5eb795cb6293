"""Tests for the words of a report's gaps: what was asked, without the ids of tasks."""

from holdfast.models.verification.verification_verdicts import Completeness, Verification
from holdfast.planning.reports.report_gaps import incomplete_gap, retracted_gap, unfinished_gap
from tests.support.jobs.plan_builders import agent_task, lookup_task

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
