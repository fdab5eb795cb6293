"""Make a plan or continue it from a failed task: ask the model, check the draft, store the plan."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.plans.opening_findings import (
    load_findings,
    load_opening_findings,
    opening_of,
)
from holdfast.activities.plans.plan_approval import needs_approval
from holdfast.activities.plans.plan_records import planned_record
from holdfast.activities.plans.planner_examples import examples_for
from holdfast.activities.plans.planning_halts import (
    invalid_plan_halt,
    planning_error_halt,
    record_planning_halt,
)
from holdfast.activities.runtime.activity_frame import Record, Recorded, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.plan_receipts import plan_receipt
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import Lasting
from holdfast.models.jobs.activity_orders import AttemptOrder, ReplanOrder
from holdfast.models.jobs.job_record import JobRequest, StopReason
from holdfast.models.jobs.job_state import Halt, PlanReceipt
from holdfast.models.plans.plan_drafts import AgentPlanDraft, PlanDraft
from holdfast.models.plans.research_plan import Plan
from holdfast.models.strategies.agent_profiles import AgentBrief
from holdfast.models.strategies.job_strategy import AgentMethod, Grain
from holdfast.models.tasks.replanner_input import ReplannerTask
from holdfast.models.tasks.stored_task import StoredTask, plan_of
from holdfast.models.wire import call_places, stored_keys
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.context.replan_scope import (
    ReplanKind,
    ReplanTarget,
    find_replan_target,
    rules_for_plan,
)
from holdfast.planning.plans.fresh_task_ids import with_fresh_ids
from holdfast.planning.plans.own_marks import read_own_marks
from holdfast.planning.plans.plan_continuation import continuation_change
from holdfast.planning.plans.plan_draft_faults import draft_faults
from holdfast.planning.plans.plan_validation import PlanRules
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.planning.strategies.fixed_plans import fixed_plan
from holdfast.roles.dialogue.model_dialogue import DialogueResult
from holdfast.roles.dialogue.role_definition import Role, TaskT
from holdfast.roles.planning.planner import (
    AGENT_TASK_PLANNER,
    CONTINUED_PLANNER,
    PLANNER,
    ContinuedPlannerTask,
    PlannerTask,
)
from holdfast.roles.planning.replanner import (
    AGENT_TASK_REPLANNER,
    LOOP_TASK_REPLANNER,
    REPLANNER,
    STEP_REPLANNER,
    LoopReplannerTask,
)
from holdfast.storage.core.database import JobTransaction
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.plans import agent_task_rows, plan_change_rows, task_queries
from holdfast.storage.plans.task_queries import GIVEN_UP_NOTE

DraftT = TypeVar("DraftT", PlanDraft, AgentPlanDraft)
_REPLANNERS: dict[ReplanKind, Role[ReplannerTask, Any]] = {
    ReplanKind.PLAN: REPLANNER,
    ReplanKind.AGENT_TASKS: AGENT_TASK_REPLANNER,
    ReplanKind.STEPS: STEP_REPLANNER,
}


@dataclass(frozen=True)
class PlanActivities:
    """The activities that make and change plans."""

    services: Services

    @implements(interfaces.make_plan)
    async def make_plan(self, order: AttemptOrder) -> PlanReceipt:
        db, work = self.services.db, partial(self._planned, order)
        return await work_once(db, order, stored_keys.PLAN_RECEIPT, PlanReceipt, work)

    async def _planned(self, order: AttemptOrder) -> Record[PlanReceipt]:
        services = self.services
        request = await services.requests.of(order)
        tasks = await task_queries.load_tasks(services.db, order.job_id)
        before = plan_of(tasks)
        model_caller = ModelCaller.of(
            services, order, request, call_places.planning_label(len(before.tasks))
        )
        try:
            signatures = await services.hub.for_job(request).signatures()
            drafted = await self._drafted(order, request, model_caller, signatures, tasks)
        except Lasting as error:
            halt = planning_error_halt(error, RoleName.PLANNER.value)
            return partial(record_planning_halt, halt, model_caller.tokens)
        if isinstance(drafted, Halt):
            return partial(record_planning_halt, drafted, model_caller.tokens)
        planned, explanation = drafted
        plan = with_fresh_ids(planned, before.by_id)
        return await planned_record(
            services,
            order,
            request,
            before,
            plan,
            explanation=explanation,
            tokens=model_caller.tokens,
            is_reviewed=needs_approval(request.strategy) and bool(plan.tasks),
        )

    async def _drafted(
        self,
        order: AttemptOrder,
        request: JobRequest,
        model_caller: ModelCaller,
        signatures: tuple[ToolSignature, ...],
        known: Sequence[StoredTask],
    ) -> tuple[Plan, str] | Halt:
        """The plan with its explanation, or the reason why there is no plan."""
        agents = self.services.agents.usable_agents(signatures)
        if request.strategy.has_fixed_plan:
            return _fixed_plan_or_halt(request, agents)
        is_graph = request.strategy.grain is Grain.AGENTS
        opening = opening_of(known)
        ground = rules_for_plan(
            request, signatures, agents, opening=opening.task if opening else None
        )
        setting = await self.services.setting_of(order)
        task = PlannerTask(
            collection=setting.collection,
            today=setting.today,
            question=request.question_in_context,
            tools=() if is_graph else signatures,
            agents=agents if is_graph else (),
            concludes=ground.needs_final,
            guidance=await guidance_of(self.services.db, order.job_id),
            examples=await examples_for(
                self.services.db, order.job_id, request, ground.tools, self.services.similarity
            ),
        )
        dialogue: DialogueResult[AgentPlanDraft] | DialogueResult[PlanDraft]
        found = await load_opening_findings(self.services.db, order.job_id, known)
        if found is not None:
            fields = {name: getattr(task, name) for name in PlannerTask.model_fields}
            task = ContinuedPlannerTask(**fields, found=found)
            dialogue = await _ask_for_draft(model_caller, CONTINUED_PLANNER, task, ground)
        elif is_graph:
            dialogue = await _ask_for_draft(model_caller, AGENT_TASK_PLANNER, task, ground)
        else:
            dialogue = await _ask_for_draft(model_caller, PLANNER, task, ground)
        if dialogue.answer is None:
            return invalid_plan_halt(RoleName.PLANNER.value, dialogue.faults)
        draft = dialogue.answer
        plan = read_own_marks(draft.to_plan(), task.model_dump_json())
        return fit_to_tools(plan, ground.tools, ground.agents), draft.explanation

    @implements(interfaces.replan)
    async def replan(self, order: ReplanOrder) -> PlanReceipt:
        tasks = await task_queries.load_tasks(self.services.db, order.job_id)
        key = _replan_key(tasks, order.task_id)
        work = partial(self._replanned, order, key, tasks)
        return await work_once(self.services.db, order, key, PlanReceipt, work)

    async def _replanned(
        self, order: ReplanOrder, key: str, tasks: Sequence[StoredTask]
    ) -> Record[PlanReceipt]:
        services = self.services
        request = await services.requests.of(order)
        guidance = await guidance_of(services.db, order.job_id)
        signatures = await services.hub.for_job(request).signatures()
        scope = find_replan_target(
            request,
            tasks,
            order,
            signatures,
            guidance,
            services.agents,
            await services.setting_of(order),
        )
        model_caller = ModelCaller.of(services, order, request, key, model=scope.model)
        try:
            dialogue = await self._ask_replanner(order, request, model_caller, scope, tasks)
        except Lasting as error:
            halt = planning_error_halt(error, RoleName.REPLANNER.value)
            return partial(record_planning_halt, halt, model_caller.tokens)
        if dialogue.answer is None:
            halt = invalid_plan_halt(RoleName.REPLANNER.value, dialogue.faults)
            return partial(record_planning_halt, halt, model_caller.tokens)
        continuation = scope.continuation(dialogue.answer)
        change = continuation_change(
            scope.plan, order.task_id, continuation, scope.extent, dialogue.answer.explanation
        )
        # The new tasks continue the failed task's lineage, whose replans share one limit:
        # T3 -> T3a -> T3b would otherwise never reach it.
        root = next(stored.root for stored in tasks if stored.task.id == order.task_id)
        tokens = model_caller.tokens

        async def record(tx: JobTransaction) -> Recorded[PlanReceipt]:
            number = await plan_change_rows.store_change(tx, plan_of(tasks), change, root=root)
            if change.gives_up:
                await agent_task_rows.add_agent_notes(tx, order.task_id, {GIVEN_UP_NOTE: True})
            return Recorded(plan_receipt(number, change, root=root, tokens=tokens))

        return record

    async def _ask_replanner(
        self,
        order: ReplanOrder,
        request: JobRequest,
        model_caller: ModelCaller,
        scope: ReplanTarget,
        tasks: Sequence[StoredTask],
    ) -> DialogueResult[Any]:
        """The replanner's draft; after a failed loop it is told what the loop found.

        Raises:
            Passing: the model is busy.
            Lasting: the model refused.
        """
        check = _ContinuationCheck(scope)
        is_loop = request.strategy.agent_method is AgentMethod.LOOP
        if not (is_loop and scope.kind is ReplanKind.AGENT_TASKS):
            role = _REPLANNERS[scope.kind]
            task = await model_caller.recorded_task(role, scope.task)
            return check.taken(await model_caller.ask(role, task, check=check))
        failed = next(each for each in tasks if each.task.id == order.task_id)
        found = await load_findings(self.services.db, order.job_id, failed, tasks)
        fields = {name: getattr(scope.task, name) for name in ReplannerTask.model_fields}
        told = LoopReplannerTask(**fields, found=found)
        told = await model_caller.recorded_task(LOOP_TASK_REPLANNER, told)
        return check.taken(await model_caller.ask(LOOP_TASK_REPLANNER, told, check=check))


def _replan_key(tasks: Sequence[StoredTask], failed: str) -> str:
    """One key per task attempt: a task that a person had run again failed in another way."""
    attempt = next(stored.attempt for stored in tasks if stored.task.id == failed)
    return stored_keys.replan_receipt(failed, attempt)


async def _ask_for_draft(
    model_caller: ModelCaller, role: Role[TaskT, DraftT], task: TaskT, ground: PlanRules
) -> DialogueResult[DraftT]:
    """The role's draft, sent back with its faults until it has none."""
    prompt = task.model_dump_json()

    def check(draft: DraftT) -> Sequence[str]:
        return draft_faults(draft, ground, prompt)

    return await model_caller.ask(role, await model_caller.recorded_task(role, task), check=check)


@dataclass
class _ContinuationCheck:
    """The check of a continuation; that it changes nothing is said once, then it is taken.

    A model that can only repeat itself ends at the limit of replans, with its findings.
    """

    scope: ReplanTarget
    repeating: Any = None
    """The valid draft that was sent back because it repeats what failed."""

    def __call__(self, draft: Any) -> Sequence[str]:  # noqa: ANN401 - a draft of either form
        faults = self.scope.faults(draft)
        if faults or self.repeating is not None:
            return faults
        if repeats := self.scope.repeats(draft):
            self.repeating = draft
        return repeats

    def taken(self, dialogue: DialogueResult[Any]) -> DialogueResult[Any]:
        """The dialogue, with the repeating draft if no try was left for another valid one."""
        if dialogue.answer is not None:
            return dialogue
        return replace(dialogue, answer=self.repeating)


def _fixed_plan_or_halt(
    request: JobRequest, agents: Sequence[AgentBrief]
) -> tuple[Plan, str] | Halt:
    """The plan of the strategy's agents that have a tool; a halt if no agent has one."""
    usable = {agent.name for agent in agents}
    named = [name for name in request.strategy.agents if name in usable]
    if not named:
        wanted = ", ".join(request.strategy.agents)
        message = f"none of the agents can work: {wanted}; they have no tools, or do not exist"
        return Halt(reason=StopReason.PLANNING_FAILED, message=message)
    plan = fixed_plan(request.question, named)
    if len(plan.tasks) == 1:
        return plan, "the preset fixes the plan: one task researches the whole question"
    return plan, f"the preset fixes the plan: {len(plan.tasks)} tasks, one after the other"
