"""Derive each plan change again: from the planner's recorded reply, and from the plan before it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.plan_drafts import AgentPlanDraft, ContinuationDraft, PlanDraft
from holdfast.models.plans.research_plan import Plan, Task
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.plans.plan_graph import plan_extent
from holdfast.rederivation.rederived_decisions import (
    DecisionKind,
    Outcome,
    RederivedDecision,
    compared,
    not_derivable,
)
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.source_queries import model_calls_of
from holdfast.storage.plans import plan_change_rows

_KIND = DecisionKind.PLAN_CHANGE
_COPIED = "it was copied from the forked job; derive that job again"
_DRAFTS = (ContinuationDraft, PlanDraft, AgentPlanDraft)
_ROLES: Mapping[PlanChangeCause, str] = {
    PlanChangeCause.PLANNED: RoleName.PLANNER.value,
    PlanChangeCause.REPLANNED: RoleName.REPLANNER.value,
}


async def rederive_plan_changes(
    db: Database, job_id: str, stored: Sequence[StoredTask]
) -> list[RederivedDecision]:
    """Return each plan change, with the tasks that the reply names and the extent of the plan.

    A fork copies the changes of the forked job without the steps that run again, so these changes
    are derived only in the forked job.
    """
    changes = await plan_change_rows.load_plan_changes(db, job_id)
    copied = await plan_change_rows.count_copied_changes(db, job_id)
    first = _tasks_as_added(changes, stored)
    added = {change.number: _added(change, first, stored) for change in changes}
    calls = await model_calls_of(db, job_id, sorted(_ROLES.values()))
    texts = {
        cause: [_descriptions(call.response or "") for call in calls if call.role == role]
        for cause, role in _ROLES.items()
    }
    decisions = []
    plan = Plan()
    for change in changes:
        plan = _applied(plan, change, added[change.number])
        if change.number <= copied:
            decisions.append(not_derivable(_KIND, _name(change), _COPIED))
            continue
        decisions.append(_extent(change, plan))
        is_planned = not all(task.is_opening for task in added[change.number])
        if change.cause in _ROLES and not change.scope and is_planned:
            decisions.append(_draft(change, added[change.number], texts[change.cause]))
    return decisions


def _extent(change: StoredPlanChange, plan: Plan) -> RederivedDecision:
    """Compare the extent of the plan after the change, which every dependency counts in."""
    extent = plan_extent(plan)
    return compared(
        _KIND,
        _name(change),
        {"depth": change.depth, "breadth": change.breadth},
        {"depth": extent.depth, "breadth": extent.breadth},
    )


def _name(change: StoredPlanChange) -> str:
    return f"{change.number} ({change.cause.value})"


def _draft(
    change: StoredPlanChange, added: Sequence[Task], drafts: Iterable[frozenset[str]]
) -> RederivedDecision:
    """Compare the added tasks with those of the reply that the change was made from."""
    name = f"{_name(change)}, from its reply"
    known = [draft for draft in drafts if draft]
    if not known:
        return not_derivable(_KIND, name, "no reply of a planner is recorded")
    wanted = {_folded(task.description) for task in added}
    nearest = max(known, key=lambda draft: len(wanted & draft))
    if wanted <= nearest:
        return RederivedDecision(kind=_KIND, name=name, outcome=Outcome.SAME)
    return compared(_KIND, name, [*sorted(wanted - nearest)], [])


def _descriptions(reply: str) -> frozenset[str]:
    """Return what the tasks of a planner's reply are to do; empty if the reply is no plan."""
    for kind in _DRAFTS:
        try:
            draft: Any = read_reply(reply, kind)
        except ReplyInvalid:
            continue
        return frozenset(_folded(task.description) for task in draft.to_plan().tasks)
    return frozenset()


def _folded(text: str) -> str:
    return " ".join(text.split())


def _added(
    change: StoredPlanChange, first: Mapping[str, Task], stored: Iterable[StoredTask]
) -> tuple[Task, ...]:
    order = [each.task.id for each in stored if each.added_by_change == change.number]
    return tuple(first[name] for name in order)


def _applied(plan: Plan, change: StoredPlanChange, added: tuple[Task, ...]) -> Plan:
    made = PlanChange(
        cause=change.cause,
        scope=change.scope,
        added=added,
        superseded=change.superseded,
        changed=change.changed,
        failed_task=change.failed_task,
    )
    return made.apply_to(plan)


def _tasks_as_added(
    changes: Sequence[StoredPlanChange], stored: Iterable[StoredTask]
) -> dict[str, Task]:
    """Return each task as it was when it was added: later changes of its fields are undone."""
    tasks = {each.task.id: each.task.with_fields({"status": "pending"}) for each in stored}
    for change in reversed(changes):
        for each in reversed(change.changed):
            if each.task in tasks and each.field in Task.model_fields:
                tasks[each.task] = tasks[each.task].with_fields({each.field: each.old})
    return tasks
