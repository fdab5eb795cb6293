"""The activities of plan tasks: each loads its task, works it, and stores what it came to."""

from dataclasses import dataclass

from activities import interfaces
from activities.asking import Desk
from activities.interfaces import implements
from activities.outcomes import Outcome, failed_with, given_up, receipt_key, store
from activities.parts import Models, Requests
from activities.reasoning import reason
from activities.tooling import ToolWork, use_tool
from models.errors import Lasting
from models.failures import Component
from models.jobs import JobRequest
from models.orders import FailTaskOrder, TaskOrder
from models.plan import Task
from models.state import TaskReceipt
from planning.references import references_in, resolve
from roles.reasoner import Given
from storage import memory, plans, receipts
from storage.database import Database
from tools.hub import Hub


@dataclass(frozen=True)
class TaskWork:
    """Works tool and reasoning tasks; safe to repeat through receipts and the ledger."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub

    @implements(interfaces.tool_task)
    async def tool_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.EXTRACTOR)

    @implements(interfaces.reasoning_task)
    async def reasoning_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.REASONER)

    @implements(interfaces.fail_task)
    async def fail_task(self, order: FailTaskOrder) -> TaskReceipt:
        stored = await self._stored(order)
        if stored is not None:
            return stored
        task = (await plans.load_task(self.db, order.job_id, order.task_id)).task
        return await store(self.db, order, task, given_up(order.message), 0)

    async def _stored(self, order: TaskOrder) -> TaskReceipt | None:
        return await receipts.find(self.db, order.job_id, receipt_key(order), TaskReceipt)

    async def _work(self, order: TaskOrder, component: Component) -> TaskReceipt:
        stored = await self._stored(order)
        if stored is not None:
            return stored
        async with self.db.job(order.job_id, order.epoch) as write:
            await plans.start_task(write, order.task_id)
        request = await self.requests.of(order.job_id)
        task = (await plans.load_task(self.db, order.job_id, order.task_id)).task
        desk = self._desk(order, request)
        try:
            outcome = await self._outcome(order, task, request, desk)
        except Lasting as error:
            outcome = failed_with(error, component)
        return await store(self.db, order, task, outcome, desk.tokens)

    async def _outcome(
        self, order: TaskOrder, task: Task, request: JobRequest, desk: Desk
    ) -> Outcome:
        inputs = await self._inputs(order, task)
        context = await self._context(order, task)
        if not task.tool:
            return await reason(desk, request, task, inputs, context)
        work = ToolWork(self.db, self.hub, desk, request, order)
        return await use_tool(work, task, inputs, context)

    async def _inputs(self, order: TaskOrder, task: Task) -> tuple[Given, ...]:
        """The inputs with every reference resolved, before any tool or model is called."""
        names = {r.task_id for given in task.inputs for r in references_in(given.value)}
        known = await memory.recall(self.db, order.job_id, names) if names else {}
        return tuple(
            Given(name=given.name, value=resolve(given.value, known)) for given in task.inputs
        )

    async def _context(self, order: TaskOrder, task: Task) -> tuple[Given, ...]:
        if not task.include_context or not task.depends_on:
            return ()
        known = await memory.recall(self.db, order.job_id, task.depends_on)
        return tuple(
            Given(name=f"{task_id}.{name}", value=value)
            for task_id, values in known.items()
            for name, value in values.items()
        )

    def _desk(self, order: TaskOrder, request: JobRequest) -> Desk:
        return Desk(
            db=self.db,
            models=self.models,
            model=request.model,
            job_id=order.job_id,
            task_id=order.task_id,
            attempt=order.attempt,
            tries=request.strategy.plan_tries,
        )
