"""Define a plan change as PostgreSQL stores it."""

from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.plan_change import FieldChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause


class StoredPlanChange(Frozen):
    """A plan change as PostgreSQL has it: with its number and the extent of the plan after it."""

    number: int
    cause: PlanChangeCause
    scope: str = ""
    """The agent whose steps changed; empty for the plan itself."""
    failed_task: str | None = None
    explanation: str = ""
    added: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    changed: tuple[FieldChange, ...] = ()
    depth: int = 0
    breadth: float = 0.0
