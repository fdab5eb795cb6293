"""Planning and replanning: ask, check, send back with the faults, store the revision."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from activities import interfaces
from activities.approval import ask_approval, needs_approval
from activities.asking import Desk
from activities.begin import fitted
from activities.examples import examples_for
from activities.interfaces import implements
from activities.parts import Models, Requests
from activities.recovery import current_recovery
from models.errors import BadConfiguration, Lasting, ModelRefused
from models.jobs import JobRequest, StopReason
from models.listing import plan_for_prompt
from models.orders import ReplanOrder, WorkOrder
from models.plan import Plan, TaskStatus
from models.state import Halt, PlanReceipt, TaskState
from planning.merge import as_started, continue_plan, replaced_by, roots_of
from planning.renaming import with_fresh_ids
from planning.tool_names import with_full_tool_names
from planning.validation import Ground, plan_faults
from roles.drafts import PlanDraft
from roles.planner import PLANNER, PlannerTask
from roles.replanner import REPLANNER, ReplannerTask
from storage import plans, receipts
from storage.control import guidance_of
from storage.database import Database
from storage.editing import PLAN_KEY
from storage.ledger import Ledger
from storage.plans import Revision, StoredTask
from tools.hub import Hub


@dataclass(frozen=True)
class Planning:
    """The activities that make and change plans."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub

    @implements(interfaces.make_plan)
    async def make_plan(self, order: WorkOrder) -> PlanReceipt:
        key = PLAN_KEY
        stored = await receipts.find(self.db, order, key, PlanReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        before = await plans.load_plan(self.db, order.job_id)
        desk = self._desk(order, request, _planning_place(before))
        signatures = await self.hub.signatures()
        ground = Ground(
            tools={tool.name: tool for tool in signatures},
            promises_kpis=request.strategy.extraction,
        )
        task = PlannerTask(
            question=request.question,
            tools=signatures,
            guidance=await guidance_of(self.db, order.job_id),
            examples=await examples_for(self.db, order.job_id, request, ground.tools),
        )
        try:
            task = await desk.as_begun(PLANNER, task)
            asked = await desk.ask(PLANNER, task, check=_checker(ground))
        except Lasting as error:
            return await self._halt(order, key, desk, _halt(error, "planner"))
        if asked.answer is None:
            return await self._halt(order, key, desk, _no_plan("planner", asked.faults))
        named = with_full_tool_names(asked.answer.to_plan(), ground.tools)
        plan = with_fresh_ids(named, before.by_id)
        change = Revision(
            revision=0,
            cause="planned",
            explanation=asked.answer.explanation,
            added=tuple(each.id for each in plan.tasks),
        )
        roots = {each.id: each.id for each in plan.tasks}
        is_reviewed = needs_approval(request.strategy)
        return await self._store(order, key, desk, plan, change, roots, is_reviewed=is_reviewed)

    @implements(interfaces.replan)
    async def replan(self, order: ReplanOrder) -> PlanReceipt:
        known = await plans.load_tasks(self.db, order.job_id)
        key = _replan_key(known, order.task_id)
        stored = await receipts.find(self.db, order, key, PlanReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        stored_plan = Plan(tasks=tuple(each.task for each in known))
        plan = as_started(stored_plan, order.under_way)
        scope = request.strategy.replan_scope
        replaced = replaced_by(plan, order.task_id, scope)
        ground = await self._ground(request, plan, replaced)
        desk = self._desk(order, request, key)
        told = await guidance_of(self.db, order.job_id)
        task = _replanner_task(request, ground, known, order.task_id, replaced, told)
        try:
            task = await desk.as_begun(REPLANNER, task)
            asked = await desk.ask(REPLANNER, task, check=_checker(ground))
        except Lasting as error:
            return await self._halt(order, key, desk, _halt(error, "replanner"))
        if asked.answer is None:
            return await self._halt(order, key, desk, _no_plan("replanner", asked.faults))
        continuation = with_full_tool_names(asked.answer.to_plan(), ground.tools)
        merged = continue_plan(plan, order.task_id, continuation, scope)
        roots = roots_of(continuation, order.task_id, {each.task.id: each.root for each in known})
        change = Revision(
            revision=0,
            cause="replanned",
            failed_task=order.task_id,
            explanation=asked.answer.explanation,
            added=merged.added,
            superseded=merged.superseded,
        )
        return await self._store(order, key, desk, merged.plan, change, roots)

    async def _ground(self, request: JobRequest, plan: Plan, replaced: tuple[str, ...]) -> Ground:
        signatures = await self.hub.signatures()
        kept = {task.id: task for task in plan.live if task.id not in replaced}
        return Ground(
            tools={tool.name: tool for tool in signatures},
            kept=kept,
            used_ids=frozenset(plan.by_id),
            promises_kpis=request.strategy.extraction,
            needs_final=not any(task.is_final for task in kept.values()),
        )

    def _desk(self, order: WorkOrder, request: JobRequest, place: str) -> Desk:
        return Desk(
            ledger=Ledger(self.db, recovery=current_recovery()),
            models=self.models,
            model=request.model,
            strategy=request.strategy,
            job_id=order.job_id,
            epoch=order.epoch,
            task_id=place,
            attempt=order.attempt,
        )

    async def _store(
        self,
        order: WorkOrder,
        key: str,
        desk: Desk,
        plan: Plan,
        change: Revision,
        roots: dict[str, str],
        *,
        is_reviewed: bool = False,
    ) -> PlanReceipt:
        async with self.db.job(order.job_id, order.epoch) as write:
            for fault in self.hub.faults():
                write.event("tool.left_out", fault=fault)
            number = await plans.store_revision(write, plan, change, roots)
            states = [_state(plan, name, roots[name]) for name in change.added]
            added = fitted(states)
            asks = await ask_approval(write, number, len(states)) if is_reviewed else ()
            receipt = PlanReceipt(
                revision=number,
                added=added,
                is_partial=len(added) < len(states),
                superseded=change.superseded,
                asks=asks,
                tokens=desk.tokens,
            )
            await receipts.keep(write, key, receipt)
            return receipt

    async def _halt(self, order: WorkOrder, key: str, desk: Desk, halt: Halt) -> PlanReceipt:
        receipt = PlanReceipt(halt=halt, tokens=desk.tokens)
        async with self.db.job(order.job_id, order.epoch) as write:
            write.event("plan.refused", reason=halt.reason.value, message=halt.message[:2000])
            # Of this run alone: a key that is refused today may be accepted by the next run.
            await receipts.keep(write, receipts.of_run(key, order.epoch), receipt)
        return receipt


def _planning_place(before: Plan) -> str:
    """Where the planner is asked from: somewhere new for each plan that was set aside."""
    return f"plan:{len(before.tasks)}" if before.tasks else ""


def _replan_key(known: Sequence[StoredTask], failed: str) -> str:
    """One per attempt of the task: one that a person had run again failed in another way."""
    attempt = next(each.attempt for each in known if each.task.id == failed)
    return f"replan:{failed}" if attempt == 1 else f"replan:{failed}#{attempt}"


class _checker:  # noqa: N801 - reads as a function where it is used
    """The faults of a draft, in words that its author can act on."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def __call__(self, draft: PlanDraft) -> Sequence[str]:
        try:
            plan = draft.to_plan()
        except ValidationError as error:
            return [f"{each['loc']}: {each['msg']}" for each in error.errors(include_url=False)]
        return plan_faults(with_full_tool_names(plan, self.ground.tools), self.ground)


def _replanner_task(
    request: JobRequest,
    ground: Ground,
    known: Sequence[StoredTask],
    failed: str,
    replaced: tuple[str, ...],
    guidance: tuple[str, ...],
) -> ReplannerTask:
    failure = next(each.failure for each in known if each.task.id == failed)
    return ReplannerTask(
        question=request.question,
        tools=tuple(ground.tools.values()),
        current_plan=plan_for_prompt(each.task for each in known),
        failed_task_id=failed,
        feedback=failure.message if failure else "the task failed without a reason",
        replaced=replaced,
        used_ids=tuple(each.task.id for each in known),
        guidance=guidance,
    )


def _state(plan: Plan, task_id: str, root: str) -> TaskState:
    task = plan.by_id[task_id]
    return TaskState(
        id=task.id,
        kind=task.kind,
        label=plans.label_of(task),
        depends_on=task.depends_on,
        priority=task.priority,
        status=TaskStatus.PENDING,
        root=root,
        is_final=task.is_final,
    )


def _halt(error: Lasting, who: str) -> Halt:
    refused = isinstance(error, ModelRefused | BadConfiguration)
    reason = StopReason.MODEL_REFUSED if refused else StopReason.PLANNING_FAILED
    return Halt(reason=reason, message=f"the {who}'s model call failed: {error}"[:4000])


def _no_plan(who: str, faults: Sequence[str]) -> Halt:
    listed = "; ".join(faults)
    message = f"the {who} gave no valid plan. Faults of its last attempt: {listed}"
    return Halt(reason=StopReason.PLANNING_FAILED, message=message[:4000])
