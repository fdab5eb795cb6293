"""Fill gaps after a verification round: retry incomplete tasks and add new tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_frame import ReceiptScope, Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.halt_from_error import halt_of_error
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.verification.gap_plan_changes import OpenGaps, store_gap_changes
from holdfast.activities.verification.verification_inputs import load_verification_inputs
from holdfast.models.errors import BadConfiguration, Lasting, ModelRefused
from holdfast.models.jobs.activity_orders import VerificationRoundOrder
from holdfast.models.jobs.job_state import PlanReceipt
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.verification.gap_plan_drafts import (
    GapPlannerAnswer,
    GapPlannerTask,
    NewSubQuestion,
    VerifiedSubQuestion,
)
from holdfast.models.verification.verification_verdicts import StopCondition, Verification
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.plans.plan_graph import dependents, known_dependencies
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.planning.verification.contradiction_rules import unsettled_contradictions
from holdfast.planning.verification.gap_plan_rules import GapRules, open_contradiction
from holdfast.planning.verification.verdict_and_retry_rules import may_add, tasks_to_retry
from holdfast.roles.planning.gap_planner import GAP_PLANNER
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.evidence import verification_rows
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.ledger.earlier_attempts import EarlierAttempts
from holdfast.storage.plans import task_queries
from holdfast.storage.plans.task_resets import TaskRetry


@dataclass(frozen=True)
class GapActivities:
    """The activity that fills gaps."""

    services: Services

    @implements(interfaces.fill_gaps)
    async def fill_gaps(self, order: VerificationRoundOrder) -> PlanReceipt:
        db, key = self.services.db, stored_keys.gap_filling_receipt(order.round)
        return await work_once(db, order, key, PlanReceipt, partial(self._filled, order))

    async def _filled(self, order: VerificationRoundOrder) -> Record[PlanReceipt]:
        gaps = await self._load_open_gaps(order)
        label = stored_keys.gap_filling_receipt(order.round)
        model_caller = ModelCaller.of(
            self.services,
            order,
            gaps.inputs.request,
            label,
            earlier_attempts=EarlierAttempts(),
        )
        answer = GapPlannerAnswer()
        faults: tuple[str, ...] = ()
        if gaps.has_gaps:
            # The task of a round that was deleted, because a person had tasks run again, differs.
            told = await self._task(order, gaps)
            task = await model_caller.task_before_guidance(GAP_PLANNER, told)
            try:
                dialogue = await model_caller.ask(GAP_PLANNER, task, check=gaps.rules.faults)
            except (ModelRefused, BadConfiguration) as error:
                return partial(_record_halt, error, model_caller.tokens)
            except Lasting as error:
                faults = (str(error),)
            else:
                # Without a valid answer, incomplete tasks are retried all the same.
                answer, faults = dialogue.answer or GapPlannerAnswer(), dialogue.faults
        plan = _GapPlan(gaps, answer, faults, model_caller.tokens)
        return partial(_record_gap_plan, order, plan)

    async def _load_open_gaps(self, order: VerificationRoundOrder) -> OpenGaps:
        request = await self.services.requests.of(order)
        inputs = await load_verification_inputs(self.services.db, order.job_id, request)
        tasks = tuple(await task_queries.load_tasks(self.services.db, order.job_id))
        verdicts = tuple(inputs.before.values())
        accepted = {name for name, ruling in inputs.rulings.items() if ruling.accepts}
        plan = plan_of(tasks)
        left = tasks_to_retry(verdicts, accepted | _given_up(tasks))
        signatures = await self.services.hub.for_job(request).signatures()
        agents = self.services.agents.usable_agents(signatures)
        disputes = unsettled_contradictions(verdicts, inputs.looked_into)
        rules = GapRules(
            ground=PlanRules(
                tools={tool.name: tool for tool in signatures},
                kept={task.id: task for task in plan.live if not task.parent},
                used_ids=frozenset(plan.by_id),
                requires_entities=request.strategy.extraction,
                needs_final=False,
                agents=frozenset(agent.name for agent in agents),
            ),
            agents=agents,
            disputes=tuple(
                open_contradiction(each, plan.by_id, inputs.findings, agents) for each in disputes
            ),
            may_add=may_add(verdicts),
        )
        return OpenGaps(inputs, tasks, verdicts, left, rules)

    async def _task(self, order: VerificationRoundOrder, gaps: OpenGaps) -> GapPlannerTask:
        by_id = gaps.by_id
        setting = await self.services.setting_of(order)
        return GapPlannerTask(
            collection=setting.collection,
            today=setting.today,
            question=gaps.inputs.request.question_in_context,
            sub_questions=tuple(
                _seen_sub_question(
                    by_id[each.task_id], each, gaps.inputs.tried.get(each.task_id, ())
                )
                for each in gaps.verdicts
            ),
            incomplete=gaps.incomplete,
            contradictions=gaps.rules.disputes,
            agents=gaps.rules.agents,
            may_add=gaps.rules.may_add,
            used_ids=tuple(name for name in by_id if "." not in name),
            guidance=await guidance_of(self.services.db, order.job_id),
        )


def _given_up(tasks: Sequence[StoredTask]) -> set[str]:
    """Return the tasks that the replanner gave up, and those that wait for one of them."""
    names = {each.task.id for each in tasks if task_queries.is_given_up(each.notes)}
    waits = known_dependencies(plan_of(tasks))
    return names.union(*(dependents(waits, name) for name in names))


@dataclass(frozen=True)
class _GapPlan:
    """The gap planner's answer, to be recorded; `faults` if no answer was valid."""

    gaps: OpenGaps
    answer: GapPlannerAnswer
    faults: Sequence[str]
    tokens: int


async def _record_gap_plan(
    order: VerificationRoundOrder, plan: _GapPlan, tx: JobTransaction
) -> Recorded[PlanReceipt]:
    drafts = plan.gaps.rules.wanted(plan.answer)
    _record_dropped_proposals(tx, plan.answer, drafts, plan.faults)
    retries = _retries(plan.gaps, plan.answer)
    receipt = await store_gap_changes(
        tx, plan.gaps, drafts, retries, plan.answer.explanation, plan.tokens
    )
    fired = None if receipt.change_number else StopCondition.NOTHING_LEFT
    await verification_rows.close_round(tx, order.round, fired)
    if fired is not None:
        tx.event(EventKind.STOP_CHECKED, round=order.round, fired=fired.value)
    return Recorded(receipt)


async def _record_halt(error: Lasting, tokens: int, tx: JobTransaction) -> Recorded[PlanReceipt]:
    halt = halt_of_error(error, "the gap planner's model call failed")
    tx.event(
        EventKind.PLAN_REFUSED,
        reason=halt.reason.value,
        message=cut_message(halt.message, MessageLimit.ENTRY),
    )
    return Recorded(PlanReceipt(halt=halt, tokens=tokens), ReceiptScope.RUN)


def _seen_sub_question(
    stored: StoredTask, verdict: Verification, tried: tuple[str, ...]
) -> VerifiedSubQuestion:
    task = stored.task
    return VerifiedSubQuestion(
        id=task.id,
        description=task.description,
        agent=task.agent or task.tool or task.kind.value,
        criteria=task.criteria,
        depends_on=task.depends_on,
        attempts=stored.attempt,
        status=verdict.status,
        completeness=verdict.completeness,
        missing=verdict.missing,
        tried=tried,
        hint=str(stored.notes.get("hint") or ""),
        recommendation=verdict.recommendation,
    )


def _record_dropped_proposals(
    tx: JobTransaction,
    answer: GapPlannerAnswer,
    drafts: Sequence[NewSubQuestion],
    faults: Sequence[str],
) -> None:
    if faults:
        tx.event(
            EventKind.GAPS_REFUSED,
            faults=[cut_message(fault, MessageLimit.FAULT) for fault in faults[:20]],
        )
    taken = {each.id for each in drafts}
    dropped: list[JsonValue] = [
        each.id[:64] for each in answer.new_sub_questions if each.id not in taken
    ]
    if dropped:
        why = "nothing is between 0.5 and 0.8 complete, and no open contradiction needs it"
        tx.event(EventKind.GAPS_DROPPED, sub_questions=dropped, reason=why)


def _retries(gaps: OpenGaps, answer: GapPlannerAnswer) -> list[TaskRetry]:
    """Retries of all incomplete tasks that ran, with the hint of a person or the gap planner."""
    hints = {each.id: each.hint for each in answer.retry_sub_questions}
    missing = {each.task_id: each.missing for each in gaps.verdicts}
    said = {name: ruling.hint for name, ruling in gaps.inputs.rulings.items() if ruling.hint}
    return [
        TaskRetry(
            task_id=each.task.id,
            hint=said.get(each.task.id) or hints.get(each.task.id, ""),
            missing=missing[each.task.id],
        )
        for each in gaps.worked()
    ]
