"""Define the plan change: tasks added, superseded and changed, with the cause."""

from collections.abc import Mapping
from functools import cached_property

from pydantic import JsonValue

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, Task


class FieldChange(Frozen):
    """One field of a task before and after a plan change; `attempt` is the task's next attempt."""

    task: str
    field: str
    old: JsonValue = None
    new: JsonValue = None


class PlanChange(Frozen):
    """One change of a plan, before it is stored."""

    cause: PlanChangeCause
    scope: str = ""
    """The agent task whose steps change; empty for the plan itself."""
    added: tuple[Task, ...] = ()
    superseded: tuple[str, ...] = ()
    changed: tuple[FieldChange, ...] = ()
    explanation: str = ""
    failed_task: str | None = None
    """The failed task that the added tasks replace, or that is given up."""

    @property
    def gives_up(self) -> bool:
        """True if nothing replaces the failed task: the replanner expects nothing more."""
        return self.failed_task is not None and not self.has_changes

    @property
    def has_changes(self) -> bool:
        """True if the change alters any task."""
        return bool(self.added or self.superseded or self.changed)

    @property
    def added_ids(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.added)

    @property
    def changed_ids(self) -> tuple[str, ...]:
        """The ids of the tasks that have a changed field, each once."""
        return tuple(dict.fromkeys(change.task for change in self.changed))

    @cached_property
    def new_values(self) -> Mapping[str, Mapping[str, JsonValue]]:
        """The new values by task and field; a task's attempt is not a field of `Task`."""
        values: dict[str, dict[str, JsonValue]] = {}
        for change in self.changed:
            if change.field in Task.model_fields:
                values.setdefault(change.task, {})[change.field] = change.new
        return values

    def apply_to(self, plan: Plan) -> Plan:
        """Return `plan` after this change: the added tasks come last."""
        values = self.new_values
        kept = (
            task.with_fields(values[task.id]) if task.id in values else task
            for task in plan.with_superseded(self.superseded).tasks
        )
        return Plan(tasks=(*kept, *self.added))
