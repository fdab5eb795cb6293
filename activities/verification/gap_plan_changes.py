"""Store the plan change that fills gaps: new attempts at incomplete tasks and new tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.activities.runtime.plan_receipts import plan_receipt
from holdfast.activities.verification.verification_inputs import VerificationInputs
from holdfast.models.jobs.job_state import PlanReceipt
from holdfast.models.plans.plan_change import FieldChange, PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.tasks.task_finding import DISPUTED_CLAIMS_NOTE, TIE_BREAKER_NOTE
from holdfast.models.verification.gap_plan_drafts import NewSubQuestion
from holdfast.models.verification.verification_verdicts import Verification
from holdfast.planning.plans.plan_graph import dependents, known_dependencies
from holdfast.planning.verification.gap_plan_rules import GapRules, tie_breaker_hint
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.plans import plan_change_rows, task_resets
from holdfast.storage.plans.task_resets import TaskRetry


@dataclass(frozen=True)
class OpenGaps:
    """The gaps that a verification round left open."""

    inputs: VerificationInputs
    tasks: tuple[StoredTask, ...]
    """All tasks of the job, with steps."""
    verdicts: tuple[Verification, ...]
    incomplete: tuple[str, ...]
    rules: GapRules

    @property
    def has_gaps(self) -> bool:
        return bool(self.incomplete or self.rules.disputes or self.rules.may_add)

    @property
    def by_id(self) -> dict[str, StoredTask]:
        return {each.task.id: each for each in self.tasks}

    def worked(self) -> list[StoredTask]:
        """The incomplete tasks that ran; a task that only waits goes on waiting."""
        by_id = self.by_id
        return [by_id[name] for name in self.incomplete if by_id[name].task.status.has_run]


async def store_gap_changes(
    tx: JobTransaction,
    gaps: OpenGaps,
    drafts: Sequence[NewSubQuestion],
    again: Sequence[TaskRetry],
    explanation: str,
    tokens: int,
) -> PlanReceipt:
    """Store retries and new tasks as one plan change; nothing if there is neither."""
    change = _gap_change(gaps, drafts, again, explanation)
    if not change.has_changes:
        return PlanReceipt(tokens=tokens)
    reopened = _reopened_tasks(gaps, again)
    await task_resets.reset_tasks_for_retry(tx, again)
    await task_resets.reset_cancelled_tasks(tx, [each.task.id for each in reopened])
    number = await plan_change_rows.store_change(tx, plan_of(gaps.tasks), change)
    await task_resets.set_task_notes(tx, _tie_breaker_notes(gaps, drafts))
    return plan_receipt(number, change, gaps.tasks, reopened=reopened, tokens=tokens)


def _gap_change(
    gaps: OpenGaps,
    drafts: Sequence[NewSubQuestion],
    again: Sequence[TaskRetry],
    explanation: str,
) -> PlanChange:
    """Return the change: incomplete tasks get their next attempt, their earlier steps go."""
    names = {each.task_id for each in again}
    return PlanChange(
        cause=PlanChangeCause.GAPS,
        added=tuple(draft.to_task() for draft in drafts),
        superseded=tuple(
            each.task.id
            for each in gaps.tasks
            if each.task.parent in names and each.task.status is not TaskStatus.SUPERSEDED
        ),
        changed=tuple(_next_attempt(each) for each in gaps.worked()),
        explanation=explanation,
    )


def _next_attempt(stored: StoredTask) -> FieldChange:
    return FieldChange(
        task=stored.task.id, field="attempt", old=stored.attempt, new=stored.attempt + 1
    )


def _reopened_tasks(gaps: OpenGaps, again: Sequence[TaskRetry]) -> list[StoredTask]:
    """Cancelled tasks that depend on a task which is retried."""
    waits = known_dependencies(plan_of(gaps.tasks))
    waiting = frozenset[str]().union(*(dependents(waits, each.task_id) for each in again))
    return [
        each
        for each in gaps.tasks
        if each.task.id in waiting and each.task.status is TaskStatus.CANCELLED
    ]


def _tie_breaker_notes(
    gaps: OpenGaps, drafts: Sequence[NewSubQuestion]
) -> Mapping[str, Mapping[str, JsonValue]]:
    """The notes of the new tasks that settle a contradiction: its sides, and a hint."""
    notes: dict[str, dict[str, JsonValue]] = {}
    for name, dispute in gaps.rules.disputes_of(drafts).items():
        notes[name] = {
            TIE_BREAKER_NOTE: list(dispute.tasks),
            DISPUTED_CLAIMS_NOTE: [dispute.one, dispute.other],
            "hint": tie_breaker_hint(dispute, gaps.inputs.findings),
            "missing": [],
        }
    return notes
