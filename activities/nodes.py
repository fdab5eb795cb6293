"""Agents: each advance asks what comes next, and stores it with the receipt of its round."""

from dataclasses import dataclass

from activities import interfaces
from activities.agent import Agent, Conclusion, Move
from activities.asking import Desk
from activities.begin import fitted
from activities.interfaces import implements
from activities.node_view import NodeView, node_in, viewed
from activities.outcomes import failed_with, preview_of
from activities.parts import Models, Requests
from activities.plan import state_of
from activities.planned import planned_move
from activities.recovery import current_recovery
from activities.stepped import stepped_move
from models.errors import Lasting
from models.failures import Component
from models.jobs import JobRequest
from models.orders import NodeOrder
from models.plan import Plan, TaskStatus
from models.state import Halt, NodeReceipt, TaskReceipt
from models.strategy import Horizon
from planning.agents import profile, tools_of
from storage import nodes, plans, receipts
from storage.control import ANEW
from storage.database import Database, JobWrite
from storage.ledger import Ledger
from storage.plans import Revision, StoredTask
from tools.hub import Hub


@dataclass(frozen=True)
class NodeWork:
    """The activity that brings an agent task on."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub

    @implements(interfaces.advance_node)
    async def advance_node(self, order: NodeOrder) -> NodeReceipt:
        key = f"{order.task_id}#{order.attempt}/{order.round}"
        stored = await receipts.find(self.db, order, key, NodeReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        view = await self._view(order)
        desk = self._desk(order, request)
        try:
            move = await _next_move(Agent(desk, order, view, request.strategy))
            halt = None
        except Lasting as error:
            outcome = failed_with(error, Component.AGENT)
            move, halt = Move(end=Conclusion(failure=outcome.failure)), outcome.halt
        return await self._store(order, key, view, move, desk.tokens, halt)

    async def _view(self, order: NodeOrder) -> NodeView:
        found = await plans.load_node(self.db, order.job_id, order.task_id)
        agent = profile(node_in(found, order.task_id).task.agent)
        tools = tools_of(agent, await self.hub.signatures())
        return viewed(found, order.task_id, agent, tools)

    def _desk(self, order: NodeOrder, request: JobRequest) -> Desk:
        return Desk(
            ledger=Ledger(self.db, recovery=current_recovery()),
            models=self.models,
            model=request.model,
            strategy=request.strategy,
            job_id=order.job_id,
            epoch=order.epoch,
            task_id=order.task_id,
            attempt=order.attempt,
        )

    async def _store(
        self,
        order: NodeOrder,
        key: str,
        view: NodeView,
        move: Move,
        tokens: int,
        halt: Halt | None,
    ) -> NodeReceipt:
        known = await plans.load_tasks(self.db, order.job_id)
        async with self.db.job(order.job_id, order.epoch) as write:
            if not await nodes.is_at_work(write, order.task_id, order.attempt):
                return _moved_on(order, known)
            if not view.used_ids and not view.node.notes.get("begun"):
                write.event("task.started", order.task_id)
            await nodes.note(write, order.task_id, move.notes | {"begun": True})
            if move.end is not None:
                receipt = await _ended(write, order, view, move.end, tokens, halt)
            else:
                receipt = await _went_on(write, order, known, view, move, tokens)
            await receipts.keep(write, key, receipt)
        return receipt


async def _next_move(agent: Agent) -> Move:
    """What the agent does now.

    Raises:
        Passing: the model is busy; the ledger keeps what came back until then.
        Lasting: the model refused.
    """
    strategy = agent.strategy
    takes_steps = Horizon.STEP in (strategy.horizon, strategy.node_horizon)
    return await (stepped_move(agent) if takes_steps else planned_move(agent))


async def _ended(
    write: JobWrite,
    order: NodeOrder,
    view: NodeView,
    end: Conclusion,
    tokens: int,
    halt: Halt | None,
) -> NodeReceipt:
    await nodes.conclude(
        write,
        view.task,
        order.attempt,
        kept=end.kept,
        failure=end.failure,
        confidence=end.confidence,
        contradicts=end.contradicts,
    )
    result = TaskReceipt(
        task_id=order.task_id,
        attempt=order.attempt,
        status=TaskStatus.FAILED if end.failure else TaskStatus.DONE,
        confidence=end.confidence,
        preview=preview_of(end.kept, end.failure),
        failure_class=end.failure.failure_class if end.failure else None,
        contradicts_plan=bool(end.contradicts),
        halt=halt,
        tokens=tokens,
    )
    return NodeReceipt(result=result)


async def _went_on(
    write: JobWrite,
    order: NodeOrder,
    known: list[StoredTask],
    view: NodeView,
    move: Move,
    tokens: int,
) -> NodeReceipt:
    plan = Plan(tasks=(*(each.task for each in known), *move.steps))
    roots = {step.id: step.id for step in move.steps}
    change = Revision(
        revision=0,
        cause=move.cause,
        scope=order.task_id,
        explanation=move.explanation,
        added=tuple(roots),
        superseded=move.superseded,
    )
    attempt = order.attempt if view.node.notes.get(ANEW) else 1
    await plans.store_revision(write, plan, change, roots, attempt=attempt)
    result = TaskReceipt(
        task_id=order.task_id, attempt=order.attempt, status=TaskStatus.RUNNING, tokens=tokens
    )
    states = [state_of(plan, name, name) for name in roots]
    added = fitted([state.model_copy(update={"attempt": attempt}) for state in states])
    return NodeReceipt(result=result, added=added, superseded=move.superseded)


def _moved_on(order: NodeOrder, known: list[StoredTask]) -> NodeReceipt:
    """The plan has another attempt at this task, or none any more."""
    status = node_in(known, order.task_id).task.status
    return NodeReceipt(
        result=TaskReceipt(task_id=order.task_id, attempt=order.attempt, status=status)
    )
