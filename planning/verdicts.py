"""Which results are verified, which verdict counts, and what is worked again."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from models.plan import Plan, Task, TaskStatus
from models.verification import Completeness, Recommendation, Verification

ADDS_FROM, ADDS_UP_TO = 0.5, 0.8
"""Between these a result is worth asking for what it lacks (VMAO); below it is worked again."""


def verifiable(plan: Plan) -> tuple[Task, ...]:
    """The sub-questions: the tasks of the plan itself that still count, without the final one."""
    return tuple(task for task in plan.live if not task.parent and not task.is_final)


def is_carried(task: Task, attempt: int, last: Verification | None) -> bool:
    """Whether this very attempt was found complete, or lacks nothing but a settled dispute."""
    if last is None or last.attempt != attempt or task.status is not TaskStatus.DONE:
        return False
    return last.status is Completeness.COMPLETE or is_disputed(last)


def is_disputed(verdict: Verification) -> bool:
    """Whether nothing is missing but the word on which of two claims is right.

    It is not worked again: another task looks elsewhere.
    """
    is_partial = verdict.status is Completeness.PARTIAL and not verdict.missing
    return is_partial and verdict.recommendation is Recommendation.ACCEPT and bool(
        verdict.contradictions
    )  # fmt: skip


def unasked(task: Task, attempt: int, failure: str) -> Verification:
    """The verdict on a task that failed or never ran: nobody has to be asked."""
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


def in_force(last: Verification | None, fresh: Verification) -> Verification:
    """The verdict that counts: a worse attempt does not take the place of a better one."""
    if last is None or last.attempt == fresh.attempt or fresh.completeness >= last.completeness:
        return fresh
    return last.model_copy(update={"is_carried": False})


def accepted(verdict: Verification) -> Verification:
    """The verdict once a person took the result as it is."""
    return verdict.model_copy(
        update={
            "status": Completeness.COMPLETE,
            "recommendation": Recommendation.ACCEPT,
            "is_carried": True,
        }
    )


def to_retry(verdicts: Iterable[Verification], excused: Collection[str] = ()) -> tuple[str, ...]:
    """Every sub-question that is not complete, whatever a model says (VMAO's critical rule).

    Not those that a person accepted (`excused`), nor those that wait for a dispute to be settled.
    """
    return tuple(
        each.task_id
        for each in verdicts
        if each.status is not Completeness.COMPLETE
        and not is_disputed(each)
        and each.task_id not in excused
    )


def may_add(verdicts: Sequence[Verification]) -> bool:
    """Whether sub-questions may be added for what is missing.

    VMAO adds at a completeness from 0.5 to 0.8. Its figure adds where no single result lies there
    but their mean does (.90 .45 .85 .30 .25), so either will do.
    """
    scores = [each.completeness for each in verdicts]
    if not scores:
        return False
    return any(ADDS_FROM <= each <= ADDS_UP_TO for each in (*scores, sum(scores) / len(scores)))


def last_by_task(verdicts: Iterable[Verification]) -> Mapping[str, Verification]:
    """The verdicts of one round by task."""
    return {each.task_id: each for each in verdicts}
