"""Merging a continuation into a plan: only the failed task and what depends on it is replaced."""

from collections.abc import Collection, Mapping

from models.base import Frozen
from models.plan import Plan, Task, TaskStatus
from models.strategy import ReplanScope
from planning.graph import dependents, edges

_KEPT = (TaskStatus.DONE, TaskStatus.RUNNING)
_OPEN = (TaskStatus.PENDING, TaskStatus.FAILED)


class Merged(Frozen):
    """The plan after the merge, with what came and what went."""

    plan: Plan
    added: tuple[str, ...]
    superseded: tuple[str, ...]


def as_started(plan: Plan, under_way: Collection[str]) -> Plan:
    """The plan with these tasks as running, where PostgreSQL has them as pending.

    The workflow starts a task before a worker has a slot for it, and only the worker's first write
    says so: until then a replan would replace what is about to run.
    """
    running = {"status": TaskStatus.RUNNING}
    tasks = (
        task.model_copy(update=running)
        if task.status is TaskStatus.PENDING and task.id in under_way
        else task
        for task in plan.tasks
    )
    return Plan(tasks=tuple(tasks))


def replaced_by(plan: Plan, failed: str, scope: ReplanScope) -> tuple[str, ...]:
    """The tasks that a continuation of `failed` replaces, in plan order.

    `DEPENDENTS`: the failed task and everything that waits for it (KPI-Chain, section 3.5.2).
    `REMAINING`: also all that has not started or has failed (the planning-horizon paper's lazy
    replanning, which plans everything that remains).
    Finished and running tasks are never among them.
    """
    waiting = dependents(edges(plan), failed)
    chosen = [
        task.id
        for task in plan.live
        if task.id == failed
        or (task.id in waiting and task.status not in _KEPT)
        or (scope is ReplanScope.REMAINING and task.status in _OPEN)
    ]
    return tuple(chosen)


def continue_plan(plan: Plan, failed: str, continuation: Plan, scope: ReplanScope) -> Merged:
    """The plan with `continuation` behind it and the replaced tasks superseded."""
    gone = frozenset(replaced_by(plan, failed, scope))
    kept = tuple(_superseded(task) if task.id in gone else task for task in plan.tasks)
    return Merged(
        plan=Plan(tasks=kept + continuation.tasks),
        added=tuple(task.id for task in continuation.tasks),
        superseded=tuple(task.id for task in kept if task.id in gone),
    )


def roots_of(continuation: Plan, failed: str, roots: Mapping[str, str]) -> dict[str, str]:
    """Whose lineage each new task continues: the root of the failed task.

    Replans are counted by root, so a task and all its successors share one limit
    (otherwise T3 -> T3a -> T3b would never reach it).
    """
    root = roots.get(failed, failed)
    return {task.id: root for task in continuation.tasks}


def _superseded(task: Task) -> Task:
    return task.model_copy(update={"status": TaskStatus.SUPERSEDED})
