"""The activities of plan tasks: each loads its task, works it, and stores what it came to."""

from dataclasses import dataclass, field

from activities import interfaces
from activities.asking import Desk
from activities.interfaces import implements
from activities.outcomes import Outcome, failed_with, given_up, receipt_key, store
from activities.parts import Models, Requests
from activities.reasoning import reason
from activities.tooling import ToolWork, use_tool
from models.errors import Lasting, ToolFailed
from models.failures import Component
from models.jobs import JobRequest
from models.orders import FailTaskOrder, TaskOrder
from models.state import TaskReceipt
from planning.agents import Agents, packaged
from planning.references import resolve
from roles.reasoner import Given
from storage import nodes, plans, receipts, tasks
from storage.database import Database
from storage.ledger import Ledger
from storage.tasks import Begun
from tools.hub import Hub


@dataclass(frozen=True)
class TaskWork:
    """Works tool and reasoning tasks; safe to repeat through receipts and the ledger."""

    db: Database
    models: Models
    requests: Requests
    hub: Hub
    agents: Agents = field(default_factory=packaged)

    @implements(interfaces.tool_task)
    async def tool_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.EXTRACTOR)

    @implements(interfaces.reasoning_task)
    async def reasoning_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.REASONER)

    @implements(interfaces.fail_task)
    async def fail_task(self, order: FailTaskOrder) -> TaskReceipt:
        stored = await receipts.find(self.db, order, receipt_key(order), TaskReceipt)
        if stored is not None:
            return stored
        task = (await plans.load_task(self.db, order.job_id, order.task_id)).task
        return await store(Ledger(self.db), order, task, given_up(order.message), 0)

    async def _work(self, order: TaskOrder, component: Component) -> TaskReceipt:
        begun = await tasks.begin(self.db, order, receipt_key(order))
        if isinstance(begun, TaskReceipt):
            return begun
        request = await self.requests.of(order)
        model = await self._model(order, begun, request)
        desk = Desk.of(
            self.db, self.models, order, request, order.task_id, model=model, may_wait=True
        )
        try:
            outcome = await self._outcome(order, begun, request, desk, component)
            return await store(desk.ledger, order, begun.task, outcome, desk.tokens)
        finally:
            # Whatever went wrong, an answer that came back is not asked for again.
            await desk.ledger.settle()

    async def _outcome(
        self,
        order: TaskOrder,
        begun: Begun,
        request: JobRequest,
        desk: Desk,
        component: Component,
    ) -> Outcome:
        try:
            inputs, context = _inputs(begun), _context(begun)
            if not begun.task.tool:
                asked = await self._question(order, begun, request)
                return await reason(desk, asked, begun.task, inputs, context)
            if begun.task.parent:
                await self._within_limits(order, begun, request)
            work = ToolWork(self.hub.only(request.servers), desk, request, order)
            return await use_tool(work, begun.task, inputs, context)
        except Lasting as error:
            return failed_with(error, component)

    async def _question(self, order: TaskOrder, begun: Begun, request: JobRequest) -> JobRequest:
        """The request with the task's question: a step knows that of its agent alone."""
        if not begun.task.parent:
            return request
        node = await plans.load_task(self.db, order.job_id, begun.task.parent)
        return request.model_copy(update={"question": node.task.description})

    async def _within_limits(self, order: TaskOrder, begun: Begun, request: JobRequest) -> None:
        """Refuse one call too many of the same tool in a row by one agent (VMAO-04).

        Raises:
            ToolFailed: the agent sees it as the tool's error, and must do something else.
        """
        most = request.strategy.max_consecutive_calls
        task = begun.task
        row = await nodes.calls_in_a_row(self.db, order, task.parent, task.tool, most)
        if row >= most:
            raise ToolFailed(
                f"{task.tool} was called {row} times in a row by this agent and is not called "
                "again (max_consecutive_calls); use another tool, or conclude"
            )

    async def _model(self, order: TaskOrder, begun: Begun, request: JobRequest) -> str:
        """Who plays the task's roles: its agent's model if it has one, or the job's."""
        if not begun.task.parent or not self.agents.have_models:
            return request.model
        node = await plans.load_task(self.db, order.job_id, begun.task.parent)
        return self.agents.model_of(node.task.agent, request.model)


def _inputs(begun: Begun) -> tuple[Given, ...]:
    """The inputs with every reference resolved, before any tool or model is called."""
    return tuple(
        Given(name=given.name, value=resolve(given.value, begun.memory))
        for given in begun.task.inputs
    )


def _context(begun: Begun) -> tuple[Given, ...]:
    if not begun.task.include_context:
        return ()
    return tuple(
        Given(name=f"{task_id}.{name}", value=value)
        for task_id, values in sorted(begun.memory.items())
        for name, value in values.items()
    )
