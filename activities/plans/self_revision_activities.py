"""Revise unfinished tasks in view of the results so far, and store the plan change."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import ValidationError

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_frame import Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.plan_receipts import plan_receipt
from holdfast.models.errors import Lasting
from holdfast.models.jobs.activity_orders import ReviseOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import PlanReceipt
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.plan_drafts import first_query_inputs
from holdfast.models.plans.research_plan import Plan, Task, TaskKind, TaskStatus
from holdfast.models.plans.shown_plan import shown_plan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.strategies.job_strategy import Monitoring
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.plans.plan_revision import RevisionProposal, revision_change, revision_faults
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.roles.planning.reviser import (
    REVISER,
    FailedAgentTask,
    Refined,
    ReviserAnswer,
    ReviserTask,
)
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.plans import agent_task_rows, plan_change_rows, task_queries
from holdfast.storage.plans.agent_task_rows import CONTRADICTION_NOTE
from holdfast.storage.plans.task_queries import CONSIDERED_NOTE, GIVEN_UP_NOTE


@dataclass(frozen=True)
class SelfRevisionActivities:
    """The activity that revises the plan by itself."""

    services: Services

    @implements(interfaces.revise_plan)
    async def revise_plan(self, order: ReviseOrder) -> PlanReceipt:
        key = stored_keys.revision_receipt(order.results_considered, order.attempt)
        work = partial(self._revised, order, key)
        return await work_once(self.services.db, order, key, PlanReceipt, work)

    async def _revised(self, order: ReviseOrder, key: str) -> Record[PlanReceipt]:
        services = self.services
        request = await services.requests.of(order)
        tasks = await task_queries.load_tasks(services.db, order.job_id)
        whole = plan_of(tasks).with_started(order.under_way)
        tools = await services.hub.for_job(request).signatures()
        agents = services.agents.usable_agents(tools)
        guidance = await guidance_of(services.db, order.job_id)
        failed = _failures_to_repair(request, tasks, order.under_way)
        inputs = _RevisionInputs(request, tasks, whole, agents, guidance, failed)
        model_caller = ModelCaller.of(services, order, request, key)
        try:
            answer, faults = await inputs.ask(model_caller)
        except Lasting as error:
            answer, faults = None, (str(error),)
        if answer is None:
            return partial(_record_refusal, order, inputs, faults, model_caller.tokens)
        proposal = inputs.proposal(answer)
        change = revision_change(inputs.plan, proposal, answer.explanation)
        left_out = proposal.left_out
        return partial(_record_revision, order, inputs, change, left_out, model_caller.tokens)


async def _record_refusal(
    order: ReviseOrder,
    inputs: "_RevisionInputs",
    faults: Sequence[str],
    tokens: int,
    tx: JobTransaction,
) -> Recorded[PlanReceipt]:
    """Change nothing: a plan that was good enough to run goes on."""
    considered = await _record_considered(order, inputs, tx)
    why = cut_message("; ".join(faults), MessageLimit.ENTRY)
    tx.event(EventKind.PLAN_CHANGE_REFUSED, results_considered=order.results_considered, reason=why)
    return Recorded(PlanReceipt(considered=considered, tokens=tokens))


async def _record_considered(
    order: ReviseOrder, inputs: "_RevisionInputs", tx: JobTransaction
) -> tuple[str, ...]:
    """Record which results were seen; only a revision after each batch asks for their names."""
    await tx.set(results_considered=order.results_considered)
    if inputs.request.strategy.monitoring is not Monitoring.BATCH:
        return ()
    seen = tuple(
        each.task.id
        for each in inputs.tasks
        if each.task.status.has_run
        and not (each.task.parent or each.notes.get(CONSIDERED_NOTE))
        and each.task.id not in order.under_way
    )
    for name in seen:
        await agent_task_rows.add_agent_notes(tx, name, {CONSIDERED_NOTE: True})
    return seen


async def _record_revision(
    order: ReviseOrder,
    inputs: "_RevisionInputs",
    change: PlanChange,
    left_out: Sequence[str],
    tokens: int,
    tx: JobTransaction,
) -> Recorded[PlanReceipt]:
    considered = await _record_considered(order, inputs, tx)
    receipt = PlanReceipt(tokens=tokens)
    if change.has_changes:
        number = await plan_change_rows.store_change(tx, inputs.whole, change)
        receipt = plan_receipt(number, change, inputs.tasks, tokens=tokens)
    for name in left_out:
        await _give_up(tx, change.apply_to(inputs.whole), name, change.explanation)
    return Recorded(
        receipt.model_copy(update={"given_up": tuple(left_out), "considered": considered})
    )


async def _give_up(tx: JobTransaction, plan: Plan, name: str, explanation: str) -> None:
    change = PlanChange(cause=PlanChangeCause.REVISED, failed_task=name, explanation=explanation)
    await plan_change_rows.store_change(tx, plan, change)
    await agent_task_rows.add_agent_notes(tx, name, {GIVEN_UP_NOTE: True})


def _failures_to_repair(
    request: JobRequest, tasks: Sequence[StoredTask], under_way: Sequence[str]
) -> tuple[FailedAgentTask, ...]:
    """The failed tasks of the plan, where the strategy leaves them to the reviser.

    What the workflow still believes under way, and what was retried for the verifier, is not among
    them.
    """
    strategy = request.strategy
    if not strategy.revises_failures:
        return ()
    return tuple(
        FailedAgentTask(id=each.task.id, why=each.failure.message if each.failure else "")
        for each in tasks
        if each.task.status is TaskStatus.FAILED
        and not (each.task.parent or each.task.is_opening)
        and not task_queries.is_given_up(each.notes)
        and not (strategy.verify and each.attempt > 1)
        and each.task.id not in under_way
    )


@dataclass(frozen=True)
class _RevisionInputs:
    """The reviser's inputs, and the rules for its answer."""

    request: JobRequest
    tasks: Sequence[StoredTask]
    whole: Plan
    agents: tuple[AgentBrief, ...]
    guidance: tuple[str, ...]
    failed: tuple[FailedAgentTask, ...]
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", self.whole.of(""))

    @property
    def changeable(self) -> tuple[str, ...]:
        return tuple(task.id for task in self.plan.tasks if _has_not_begun(task))

    @property
    def ground(self) -> PlanRules:
        return PlanRules(
            tools={},
            used_ids=frozenset(self.whole.by_id),
            needs_final=not self.request.strategy.verify,
            agents=frozenset(agent.name for agent in self.agents),
        )

    async def ask(self, model_caller: ModelCaller) -> tuple[ReviserAnswer | None, Sequence[str]]:
        live = Plan(tasks=self.plan.live).by_id
        task = ReviserTask(
            question=self.request.question_in_context,
            plan=shown_plan(self.plan.live),
            changeable=self.changeable,
            contradictions=tuple(
                f"{each.task.id}: {each.notes[CONTRADICTION_NOTE]}"
                for each in self.tasks
                if each.notes.get(CONTRADICTION_NOTE) and each.task.id in live
            ),
            failed=self.failed,
            agents=self.agents,
            used_ids=tuple(task.id for task in self.plan.tasks),
            guidance=self.guidance,
        )

        def check(answer: ReviserAnswer) -> Sequence[str]:
            try:
                proposal = self.proposal(answer)
            except ValidationError as error:
                return [str(error).splitlines()[0]]
            return revision_faults(self.plan, proposal, self.ground)

        dialogue = await model_caller.ask(
            REVISER, await model_caller.recorded_task(REVISER, task), check=check
        )
        return dialogue.answer, dialogue.faults

    def proposal(self, answer: ReviserAnswer) -> RevisionProposal:
        """Return the reviser's answer as a proposal.

        Raises:
            pydantic.ValidationError: a value is out of its range.
        """
        return RevisionProposal(
            refined=tuple(_refined_task(self.plan, each) for each in answer.refine),
            added=tuple(each.to_task() for each in answer.add),
            removed=tuple(answer.remove),
            failed=tuple(each.id for each in self.failed),
            gone=tuple(
                each.task.id
                for each in self.tasks
                if each.task.status is TaskStatus.FAILED
                and not each.task.parent
                and task_queries.is_given_up(each.notes)
            ),
        )


def _refined_task(plan: Plan, wanted: Refined) -> Task:
    """Return the refined task; an unknown task becomes a fault later."""
    known = plan.by_id.get(wanted.id)
    if known is None:
        known = Task(id=wanted.id, kind=TaskKind.AGENT, description=wanted.description)
    needs = known.depends_on if wanted.depends_on is None else wanted.depends_on
    criteria = known.criteria if wanted.criteria is None else wanted.criteria
    refined = known.with_description(wanted.description, criteria).with_dependencies(needs)
    if wanted.first_queries is None:
        return refined
    others = tuple(each for each in known.inputs if each not in known.first_queries)
    return refined.with_inputs((*others, *first_query_inputs(wanted.first_queries)))


def _has_not_begun(task: Task) -> bool:
    return task.status is TaskStatus.PENDING
