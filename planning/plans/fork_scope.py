"""Find what a fork runs again: the changed tasks, their downstream tasks, and what has not ended.

A fork keeps every result that does not depend on a change. Tasks of the forked job that have not
ended run in the fork as well, so a running job can be forked from what it has done.
"""

from collections.abc import Iterable, Mapping, Sequence

from holdfast.models.errors import BadInput, NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.research_plan import Plan, Task, TaskStatus
from holdfast.planning.plans.plan_edits import own_tasks
from holdfast.planning.plans.plan_graph import dependents

_ENDED = (TaskStatus.DONE, TaskStatus.FAILED)


class ForkScope(Frozen):
    """What a fork of a job runs and keeps; the tasks are those of the plan, without steps."""

    changed: tuple[str, ...]
    """The tasks that were named or changed."""
    downstream: tuple[str, ...]
    """The tasks that run again because a task before them does."""
    unfinished: tuple[str, ...]
    """The tasks that had not ended in the forked job."""
    kept: tuple[str, ...]
    """The tasks whose results stay."""

    @property
    def rerun(self) -> tuple[str, ...]:
        """The tasks that run in the fork, without those that an edit adds."""
        return (*self.changed, *self.downstream, *self.unfinished)

    def why(self, task_id: str) -> str:
        """Return why a task runs in the fork: changed, downstream or unfinished."""
        if task_id in self.changed:
            return "changed"
        return "downstream" if task_id in self.downstream else "unfinished"


def fork_scope(plan: Plan, named: Sequence[str], change: PlanChange | None) -> ForkScope:
    """Return the scope of a fork that runs the named tasks again and changes the plan.

    Raises:
        NotFound: the plan has no such task.
        BadInput: a named task is a step, or was superseded.
    """
    for name in named:
        _check(plan, name)
    after = plan if change is None else change.apply_to(plan)
    touched = {*named, *(change.changed_ids if change else ())}
    roots = touched | set(change.superseded if change else ())
    # An edit may connect tasks or take them apart: what a task depends on counts before and after.
    downstream = set().union(*(_dependents((plan, after), root) for root in roots)) - touched
    own = [task for task in own_tasks(after) if task.id in plan.by_id]
    ended = {task.id for task in own if plan.by_id[task.id].status in _ENDED}
    return ForkScope(
        changed=_ids(own, touched),
        downstream=_ids(own, downstream & ended),
        unfinished=_ids(own, {task.id for task in own} - ended - touched),
        kept=_ids(own, ended - downstream - touched),
    )


def reworded_tasks(plan: Plan, questions: Mapping[str, str]) -> tuple[FieldChange, ...]:
    """Return the changes that give tasks other descriptions.

    The first searches of an agent task were for its old description, so they are left out.
    """
    changes = []
    for name, words in questions.items():
        _check(plan, name, field="questions")
        task = plan.by_id[name]
        changes.append(FieldChange(task=name, field="description", old=task.description, new=words))
        if task.first_queries:
            old = [each.model_dump(mode="json") for each in task.inputs]
            first = [each.model_dump(mode="json") for each in task.first_queries]
            left = [each for each in old if each not in first]
            changes.append(FieldChange(task=name, field="inputs", old=old, new=left))
    return tuple(changes)


def kept_and_pending(plan: Plan, scope: ForkScope) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tasks and steps that a fork copies with results, and those that it runs.

    The steps of an agent that runs again are in neither. A superseded task is kept as the record.
    """
    pending = set(scope.rerun)
    kept = (t.id for t in plan.tasks if t.id not in pending and t.parent not in pending)
    return tuple(kept), tuple(t.id for t in plan.tasks if t.id in pending)


def _dependents(plans: Iterable[Plan], root: str) -> set[str]:
    waits: dict[str, tuple[str, ...]] = {}
    for plan in plans:
        for task in plan.tasks:
            waits[task.id] = (*waits.get(task.id, ()), *task.depends_on)
    return set(dependents(waits, root))


def _ids(tasks: Iterable[Task], chosen: set[str]) -> tuple[str, ...]:
    return tuple(task.id for task in tasks if task.id in chosen)


def _check(plan: Plan, name: str, *, field: str = "tasks") -> None:
    task = plan.by_id.get(name)
    if task is None:
        known = ", ".join(each.id for each in own_tasks(plan)) or "none"
        raise NotFound(f"the plan has no task {name!r}; its tasks: {known}", field=field)
    if task.parent:
        raise BadInput(
            f"{name} is a step of {task.parent}; fork {task.parent} instead", field=field
        )
    if task.status is TaskStatus.SUPERSEDED:
        raise BadInput(
            f"{name} was replaced when the plan was changed; `holdfast plan JOB` shows by what",
            field=field,
        )
