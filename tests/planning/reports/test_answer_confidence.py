"""Tests for the confidence of an answer: the weakest result that the answer depends on."""

import pytest

from holdfast.models.plans.research_plan import ExpectedEntity, Task, TaskKind, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Recommendation,
    Verification,
)
from holdfast.planning.reports.answer_confidence import answer_confidence, result_reliability
from tests.support.jobs.plan_builders import final_task, lookup_task

pytestmark = pytest.mark.conformance("REP-01")


def stored(
    task: Task, confidence: float | None, status: TaskStatus = TaskStatus.DONE
) -> StoredTask:
    done = task.with_status(status)
    return StoredTask(
        task=done, position=0, attempt=1, root=task.id, added_by_change=1, confidence=confidence
    )


def verdict(task_id: str, confidence: float, completeness: float) -> Verification:
    return Verification(
        task_id=task_id,
        attempt=1,
        status=Completeness.COMPLETE if completeness == 1 else Completeness.PARTIAL,
        completeness=completeness,
        confidence=confidence,
        recommendation=Recommendation.ACCEPT,
    )


def agent(task_id: str) -> Task:
    expects = (ExpectedEntity(name="value"),)
    return Task(id=task_id, kind=TaskKind.AGENT, description="find", agent="web", expects=expects)


CHAIN = (lookup_task("T1"), lookup_task("T2", "T1"), lookup_task("T3"), final_task("T4", "T2"))


def test_an_answer_is_no_surer_than_the_weakest_task_of_its_chain() -> None:
    tasks = [stored(task, sure) for task, sure in zip(CHAIN, (0.72, 0.9, 0.1, 0.95), strict=True)]

    assert answer_confidence(tasks, {}) == 0.72, "T3 is not part of the chain"


@pytest.mark.parametrize(
    ("own", "sure", "completeness", "reliability"),
    [(0.9, 0.95, 1.0, 0.9), (0.9, 0.4, 1.0, 0.4), (0.9, 0.95, 0.3, 0.3), (None, 0.8, 1.0, 0.8)],
)
def test_a_sure_verdict_on_half_a_result_is_half_a_result(
    own: float | None, sure: float, completeness: float, reliability: float
) -> None:
    one = stored(agent("T1"), own)

    assert result_reliability(one, verdict("T1", sure, completeness)) == reliability


def test_a_concluded_answer_counts_parts_without_a_result() -> None:
    tasks = [stored(agent("T1"), 0.9), stored(agent("T2"), None, TaskStatus.FAILED)]

    assert answer_confidence(tasks, {}, ["T1"]) == 0.45


def test_a_concluded_answer_is_no_surer_than_what_is_cited_for_it() -> None:
    tasks = [stored(agent("T1"), 0.2), stored(agent("T2"), 1.0), stored(agent("T3"), 1.0)]

    assert answer_confidence(tasks, {}, ["T1", "T2"]) == 0.2
    assert answer_confidence(tasks, {}, ["T2"]) == 0.733


def test_nothing_is_said_where_nobody_rated_a_result() -> None:
    assert answer_confidence([stored(agent("T1"), None)], {}) is None
