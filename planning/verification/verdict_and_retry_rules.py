"""Decide which results are verified, which verdict counts, and which tasks run again."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.models.verification.verification_verdicts import (
    Completeness,
    Recommendation,
    Verification,
)

ADD_TASKS_FROM, ADD_TASKS_UP_TO = 0.5, 0.8
"""Tasks are added for a result's missing aspects between these scores (VMAO)."""


def verifiable_tasks(plan: Plan) -> tuple[Task, ...]:
    """Return the tasks to verify: the plan's live tasks without the final one.

    An opening loop is proven when it ends, and the plan is made for what it left open.
    """
    return tuple(
        task for task in plan.live if not task.parent and not task.is_final and not task.is_opening
    )


def is_carried_over(task: Task, attempt: int, last: Verification | None) -> bool:
    """True if this attempt was judged complete, or lacked only a contradiction's settlement."""
    if last is None or last.attempt != attempt or task.status is not TaskStatus.DONE:
        return False
    return last.status is Completeness.COMPLETE or is_disputed(last)


def is_disputed(verdict: Verification) -> bool:
    """True if the result lacks only the decision between two contradicting claims.

    Such a result is not retried: a tie-breaker task decides.
    """
    is_partial = verdict.status is Completeness.PARTIAL and not verdict.missing
    return (
        is_partial
        and verdict.recommendation is Recommendation.ACCEPT
        and bool(verdict.contradictions)
    )


def verdict_without_model(task: Task, attempt: int, failure: str) -> Verification:
    """Return the verdict on a task that failed or never ran, without a model call."""
    names = tuple(each.name for each in task.expects if each.required)
    why = failure or ("it failed" if task.status is TaskStatus.FAILED else "it never ran")
    return Verification(
        task_id=task.id,
        attempt=attempt,
        status=Completeness.INCOMPLETE,
        completeness=0.0,
        confidence=0.0,
        missing=(why, *names),
        recommendation=Recommendation.RETRY,
    )


def effective_verdict(last: Verification | None, fresh: Verification) -> Verification:
    """Return the verdict that counts: a worse attempt does not replace a better one."""
    if last is None or last.attempt == fresh.attempt or fresh.completeness >= last.completeness:
        return fresh
    return last.model_copy(update={"is_carried_over": False})


def accept_verdict(verdict: Verification) -> Verification:
    """Return the verdict after a person accepted the result."""
    return verdict.model_copy(
        update={
            "status": Completeness.COMPLETE,
            "recommendation": Recommendation.ACCEPT,
            "is_carried_over": True,
        }
    )


def tasks_to_retry(
    verdicts: Iterable[Verification], excused: Collection[str] = ()
) -> tuple[str, ...]:
    """Return every task whose result is not complete, whatever a model says (VMAO's rule).

    Without tasks that a person accepted or the replanner gave up (`excused`), and without those
    that wait for a tie-breaker.
    """
    return tuple(
        each.task_id
        for each in verdicts
        if each.status is not Completeness.COMPLETE
        and not is_disputed(each)
        and each.task_id not in excused
    )


def may_add(verdicts: Sequence[Verification]) -> bool:
    """True if tasks may be added for missing aspects.

    VMAO adds tasks at a completeness from 0.5 to 0.8. Its figure adds tasks where only the mean
    lies there (.90 .45 .85 .30 .25), so one result or the mean is enough.
    """
    scores = [each.completeness for each in verdicts]
    if not scores:
        return False
    return any(
        ADD_TASKS_FROM <= each <= ADD_TASKS_UP_TO for each in (*scores, sum(scores) / len(scores))
    )


def verdicts_by_task(verdicts: Iterable[Verification]) -> Mapping[str, Verification]:
    """Return the verdicts of one round by task."""
    return {each.task_id: each for each in verdicts}
