"""Rate the answer of a report, from 0 to 1: never above the weakest result that it depends on.

A result is as reliable as the weakest of what is known of it: the confidence of its values, the
verifier's confidence, and its completeness. So a sure verdict on half a result counts half.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.planning.plans.downstream_tasks import owning_task
from holdfast.planning.plans.plan_graph import upstream_tasks

UNSTATED_ANSWER_CONFIDENCE = 0.5
"""The most for a concluded answer with a name or a number that no source contains."""


def result_reliability(stored: StoredTask, verdict: Verification | None) -> float | None:
    """Return the reliability of one result; None if nobody rated it."""
    if stored.task.status is not TaskStatus.DONE:
        return 0.0
    judged = () if verdict is None else (verdict.reliability,)
    own = () if stored.confidence is None else (stored.confidence,)
    return min((*own, *judged), default=None)


def answer_confidence(
    tasks: Sequence[StoredTask],
    verdicts: Mapping[str, Verification],
    cited_tasks: Collection[str] = (),
) -> float | None:
    """Return the confidence of the job's answer, 0 to 1; None if no result was rated.

    An answer of the plan's last task depends on that task and on all that it used. An answer that
    the report's writer concluded depends on `cited_tasks`, the tasks whose evidence the writer
    cites for it; it is no surer than the mean over all parts of the question, where a part without
    a result counts 0.
    """
    plan = plan_of(tasks)
    known = {each.task.id: result_reliability(each, verdicts.get(each.task.id)) for each in tasks}
    final = next((task for task in plan.live if task.is_final and not task.parent), None)
    if final is not None:
        return _least(known, upstream_tasks(plan, final.id))
    parts = [each for name in _part_ids(plan) if (each := known[name]) is not None]
    if not parts:
        return None
    mean = round(sum(parts) / len(parts), 3)
    weakest = _least(known, (owning_task(plan, name) for name in cited_tasks))
    return mean if weakest is None else min(mean, weakest)


def _part_ids(plan: Plan) -> list[str]:
    tasks = (task for task in plan.reported_tasks if task.status is not TaskStatus.SUPERSEDED)
    return [task.id for task in tasks if not task.is_final]


def _least(known: Mapping[str, float | None], names: Iterable[str]) -> float | None:
    return min((each for name in names if (each := known.get(name)) is not None), default=None)
