"""Agents: each advance asks what comes next, and stores it with the receipt of its round."""

from dataclasses import dataclass, field, replace

from activities import interfaces
from activities.agent import Agent, Conclusion, Move, failed
from activities.asking import Desk
from activities.begin import fitted
from activities.interfaces import implements
from activities.node_view import NodeView, node_in, viewed
from activities.outcomes import failed_with, preview_of
from activities.parts import Models, Requests
from activities.plan import state_of
from activities.planned import planned_move
from activities.routing import Raised, Routed, route_question
from activities.stepped import stepped_move
from models.errors import Lasting
from models.failures import Component
from models.jobs import JobRequest
from models.orders import NodeOrder
from models.plan import Plan, TaskStatus
from models.state import Halt, NodeReceipt, TaskReceipt
from models.strategy import Horizon
from planning.agents import Agents, packaged, tools_of
from roles.node_planner import Answered
from storage import nodes, plans, questions, receipts
from storage.control import ANEW
from storage.database import Database, JobWrite
from storage.plans import Revision, StoredTask
from tools.hub import Hub

_OVER = (TaskStatus.DONE, TaskStatus.FAILED)


@dataclass(frozen=True)
class NodeWork:
    """The activity that brings an agent task on."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.advance_node)
    async def advance_node(self, order: NodeOrder) -> NodeReceipt:
        key = f"{order.task_id}#{order.attempt}/{order.round}"
        stored = await receipts.find(self.db, order, key, NodeReceipt)
        if stored is not None:
            return stored
        request = await self.requests.of(order)
        desk = await self._desk(order, request)
        try:
            view, move, routed = await self._moved(order, request, desk)
            halt = None
        except Lasting as error:
            outcome = failed_with(error, Component.AGENT)
            view, routed = await self._view(order), Routed()
            move, halt = Move(end=Conclusion(failure=outcome.failure)), outcome.halt
        return await self._store(order, key, view, move, routed, desk.tokens, halt)

    async def _moved(
        self, order: NodeOrder, request: JobRequest, desk: Desk
    ) -> tuple[NodeView, Move, Routed]:
        """What the agent does now; a question that somebody knows the answer to is answered first.

        Raises:
            Passing: the model is busy; the ledger keeps what came back until then.
            Lasting: the model refused.
        """
        while True:
            view = await self._view(order)
            if absence := self.agents.absence(view.agent.name):
                return view, Move(end=failed(absence)), Routed()
            move = await _next_move(_limited(Agent(desk, order, view, request.strategy)))
            if not move.question:
                return view, move, Routed()
            raised = Raised(task_id=order.task_id, text=move.question, default=move.default or None)
            routed = await route_question(self.db, desk, raised)
            if routed.answer is None:
                return view, move, routed

    async def _answers(self, order: NodeOrder) -> tuple[Answered, ...]:
        found = await questions.answers_of(self.db, order.job_id, order.task_id)
        return tuple(
            Answered(question=each.text, answer=each.answer or "", by=(each.origin or "").lower())
            for each in found
        )

    async def _view(self, order: NodeOrder) -> NodeView:
        found = await plans.load_node(self.db, order.job_id, order.task_id)
        agent = self.agents.profile(node_in(found, order.task_id).task.agent)
        request = await self.requests.of(order)
        tools = tools_of(agent, await self.hub.only(request.servers).signatures())
        return viewed(found, order.task_id, agent, tools, await self._answers(order))

    async def _desk(self, order: NodeOrder, request: JobRequest) -> Desk:
        model = request.model
        if self.agents.have_models:
            node = await plans.load_task(self.db, order.job_id, order.task_id)
            model = self.agents.model_of(node.task.agent, model)
        return Desk.of(self.db, self.models, order, request, order.task_id, model=model)

    async def _store(
        self,
        order: NodeOrder,
        key: str,
        view: NodeView,
        move: Move,
        routed: Routed,
        tokens: int,
        halt: Halt | None,
    ) -> NodeReceipt:
        known = await plans.load_tasks(self.db, order.job_id)
        async with self.db.job(order.job_id, order.epoch) as write:
            await receipts.not_yet(write, key)
            notes = await nodes.notes_at_work(write, order.task_id, order.attempt)
            if notes is None:
                return _moved_on(order, known)
            if not view.used_ids and not notes.get("begun"):
                write.event("task.started", order.task_id)
            await nodes.note(write, order.task_id, move.notes | {"begun": True})
            if move.question:
                # No receipt: once it is answered, the agent goes on from the same round. Asking
                # again is safe by itself.
                return await _asked(write, order, routed, tokens)
            if move.end is not None:
                receipt = await _ended(write, order, view, move.end, tokens, halt)
            else:
                receipt = await _went_on(write, order, known, view, move, tokens)
            await receipts.keep(write, key, receipt)
        return receipt


def _limited(agent: Agent) -> Agent:
    """The agent within the steps that its profile allows it."""
    most = agent.view.agent.max_steps
    if most is None:
        return agent
    fewest = min(most, agent.strategy.max_node_steps)
    strategy = agent.strategy.model_copy(update={"max_node_steps": fewest})
    taken = sum(each.task.status in _OVER for each in agent.view.steps)
    order = agent.order
    if taken >= most and not order.must_end:
        why = f"{taken} steps were taken (max_steps of agent {agent.view.agent.name!r})"
        order = order.model_copy(update={"must_end": why})
    return replace(agent, order=order, strategy=strategy)


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


async def _asked(write: JobWrite, order: NodeOrder, routed: Routed, tokens: int) -> NodeReceipt:
    """It waits: for a person, or for the tasks that are to answer."""
    await nodes.wait_for(write, order.task_id, routed.waits_for)
    return NodeReceipt(
        result=_going_on(order, tokens),
        added=routed.added,
        asks=() if routed.asks is None else (routed.asks,),
        waits_for=routed.waits_for,
    )


def _going_on(order: NodeOrder, tokens: int) -> TaskReceipt:
    return TaskReceipt(
        task_id=order.task_id, attempt=order.attempt, status=TaskStatus.RUNNING, tokens=tokens
    )


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
    states = [state_of(plan, name, name) for name in roots]
    added = fitted([state.model_copy(update={"attempt": attempt}) for state in states])
    return NodeReceipt(result=_going_on(order, tokens), added=added, superseded=move.superseded)


def _moved_on(order: NodeOrder, known: list[StoredTask]) -> NodeReceipt:
    """The plan has another attempt at this task, or none any more."""
    status = node_in(known, order.task_id).task.status
    return NodeReceipt(
        result=TaskReceipt(task_id=order.task_id, attempt=order.attempt, status=status)
    )
