"""Planning and replanning: ask, check, send back with the faults, store the revision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from activities import interfaces
from activities.approval import ask_approval, needs_approval
from activities.asking import Desk
from activities.begin import fitted
from activities.drafted import draft_faults
from activities.examples import examples_for
from activities.interfaces import implements
from activities.parts import Models, Requests
from activities.scopes import ground_of_plan, scope_of
from models.agents import AgentBrief
from models.errors import BadConfiguration, BadInput, Lasting, ModelRefused
from models.estimates import Estimate
from models.jobs import JobRequest, StopReason
from models.orders import ReplanOrder, WorkOrder
from models.plan import Plan, TaskStatus
from models.state import Halt, PlanReceipt, TaskState
from models.strategy import Grain
from models.tools import ToolSignature
from planning.agents import Agents, packaged
from planning.fixed import fixed_plan
from planning.merge import continue_plan, roots_of
from planning.renaming import with_fresh_ids
from planning.tool_names import with_full_tool_names
from planning.validation import Ground
from roles.base import Role, TaskT
from roles.dialogue import Asked
from roles.drafts import GraphDraft, PlanDraft
from roles.planner import GRAPH_PLANNER, PLANNER, PlannerTask
from storage import plans, receipts
from storage.control import guidance_of
from storage.database import Database
from storage.editing import PLAN_KEY
from storage.estimates import estimate_of, keep_estimate
from storage.plans import Revision, StoredTask
from tools.hub import Hub

DraftT = TypeVar("DraftT", PlanDraft, GraphDraft)


@dataclass(frozen=True)
class Planning:
    """The activities that make and change plans."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.make_plan)
    async def make_plan(self, order: WorkOrder) -> PlanReceipt:
        key = PLAN_KEY
        stored = await receipts.find(self.db, order, key, PlanReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        before = await plans.load_plan(self.db, order.job_id)
        desk = Desk.of(self.db, self.models, order, request, _planning_place(before))
        try:
            signatures = await self.hub.only(request.servers).signatures()
            drafted = await self._drafted(order, request, desk, signatures)
        except Lasting as error:
            return await self._halt(order, key, desk, _halt(error, "planner"))
        if isinstance(drafted, Halt):
            return await self._halt(order, key, desk, drafted)
        planned, explanation = drafted
        plan = with_fresh_ids(planned, before.by_id)
        change = Revision(
            revision=0,
            cause="planned",
            explanation=explanation,
            added=tuple(each.id for each in plan.tasks),
        )
        roots = {each.id: each.id for each in plan.tasks}
        told = await estimate_of(self.db, order.job_id, request, plan, self.models.prices)
        is_reviewed = needs_approval(request.strategy)
        return await self._store(
            order, key, desk, plan, change, roots, told=told, is_reviewed=is_reviewed
        )

    async def _drafted(
        self,
        order: WorkOrder,
        request: JobRequest,
        desk: Desk,
        signatures: tuple[ToolSignature, ...],
    ) -> tuple[Plan, str] | Halt:
        """The plan with its reason; or why there is none."""
        agents = self.agents.usable(signatures)
        if request.strategy.has_fixed_plan:
            return _fixed(request, agents)
        is_graph = request.strategy.grain is Grain.NODES
        ground = ground_of_plan(request, signatures, agents)
        task = PlannerTask(
            question=request.question,
            tools=() if is_graph else signatures,
            agents=agents if is_graph else (),
            concludes=ground.needs_final,
            guidance=await guidance_of(self.db, order.job_id),
            examples=await examples_for(self.db, order.job_id, request, ground.tools),
        )
        asked: Asked[GraphDraft] | Asked[PlanDraft]
        if is_graph:
            asked = await _asked(desk, GRAPH_PLANNER, task, ground)
        else:
            asked = await _asked(desk, PLANNER, task, ground)
        if asked.answer is None:
            return _no_plan("planner", asked.faults)
        return with_full_tool_names(asked.answer.to_plan(), ground.tools), asked.answer.explanation

    @implements(interfaces.replan)
    async def replan(self, order: ReplanOrder) -> PlanReceipt:
        known = await plans.load_tasks(self.db, order.job_id)
        key = _replan_key(known, order.task_id)
        stored = await receipts.find(self.db, order, key, PlanReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        told = await guidance_of(self.db, order.job_id)
        signatures = await self.hub.only(request.servers).signatures()
        scope = scope_of(request, known, order, signatures, told, self.agents)
        desk = Desk.of(self.db, self.models, order, request, key, model=scope.model)
        try:
            asked = await _asked(desk, scope.role, scope.task, scope.ground)
        except Lasting as error:
            return await self._halt(order, key, desk, _halt(error, "replanner"))
        if asked.answer is None:
            return await self._halt(order, key, desk, _no_plan("replanner", asked.faults))
        continuation = scope.owned(asked.answer.to_plan())
        merged = continue_plan(scope.plan, order.task_id, continuation, scope.extent)
        roots = roots_of(continuation, order.task_id, {each.task.id: each.root for each in known})
        change = Revision(
            revision=0,
            cause="replanned",
            scope=scope.parent,
            failed_task=order.task_id,
            explanation=asked.answer.explanation,
            added=merged.added,
            superseded=merged.superseded,
        )
        whole = scope.with_the_rest(known, merged.plan)
        return await self._store(order, key, desk, whole, change, roots)

    async def _store(
        self,
        order: WorkOrder,
        key: str,
        desk: Desk,
        plan: Plan,
        change: Revision,
        roots: dict[str, str],
        *,
        told: Estimate | None = None,
        is_reviewed: bool = False,
    ) -> PlanReceipt:
        hub = self.hub.only((await self.requests.of(order)).servers)
        async with self.db.job(order.job_id, order.epoch) as write:
            await receipts.not_yet(write, key)
            for fault in hub.faults():
                write.event("tool.left_out", fault=fault)
            number = await plans.store_revision(write, plan, change, roots)
            if told is not None:
                await keep_estimate(write, told)
            states = [state_of(plan, name, roots[name]) for name in change.added]
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


async def _asked(
    desk: Desk, role: Role[TaskT, DraftT], task: TaskT, ground: Ground
) -> Asked[DraftT]:
    """The draft of whoever plays the role, sent back with its faults until it has none."""

    def check(draft: DraftT) -> Sequence[str]:
        return draft_faults(draft, ground)

    return await desk.ask(role, await desk.as_begun(role, task), check=check)


def _fixed(request: JobRequest, agents: Sequence[AgentBrief]) -> tuple[Plan, str] | Halt:
    """The agents that the strategy names, without those that have no tool to work with."""
    able = {agent.name for agent in agents}
    named = [name for name in request.strategy.agents if name in able]
    if not named:
        wanted = ", ".join(request.strategy.agents)
        message = f"none of the agents can work: {wanted}; they have no tools, or do not exist"
        return Halt(reason=StopReason.PLANNING_FAILED, message=message)
    return fixed_plan(request.question, named), f"fixed: {', '.join(named)}"


def state_of(plan: Plan, task_id: str, root: str) -> TaskState:
    """A new task as the scheduler sees it."""
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
        parent=task.parent,
    )


def _halt(error: Lasting, who: str) -> Halt:
    if isinstance(error, BadInput):
        return Halt(reason=StopReason.PLANNING_FAILED, message=str(error)[:4000])
    refused = isinstance(error, ModelRefused | BadConfiguration)
    reason = StopReason.MODEL_REFUSED if refused else StopReason.PLANNING_FAILED
    return Halt(reason=reason, message=f"the {who}'s model call failed: {error}"[:4000])


def _no_plan(who: str, faults: Sequence[str]) -> Halt:
    listed = "; ".join(faults)
    message = f"the {who} gave no valid plan. Faults of its last attempt: {listed}"
    return Halt(reason=StopReason.PLANNING_FAILED, message=message[:4000])
