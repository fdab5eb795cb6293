"""Run one tool task or reasoning task, store its outcome and return a receipt."""

from dataclasses import dataclass

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.runtime.activity_services import Services
from holdfast.activities.runtime.interceptors.work_time_interceptor import worked_seconds
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.task_outcome import (
    TaskOutcome,
    outcome_of_abandoned_attempt,
    outcome_of_error,
    receipt_key,
    store_outcome,
)
from holdfast.activities.tasks.reasoning_task import run_reasoning_task
from holdfast.activities.tasks.tool_task import ToolTaskContext, run_tool_task
from holdfast.models.errors import Lasting, ToolFailed
from holdfast.models.jobs.activity_orders import FailTaskOrder, TaskOrder
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.jobs.job_state import TaskReceipt
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.task_failure import Component
from holdfast.planning.context.explained_values import explained_context, explained_inputs
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.storage.core import receipt_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.plans import agent_task_rows, task_queries, task_transactions
from holdfast.storage.plans.dependency_values import values_of_tasks
from holdfast.storage.plans.task_transactions import RunningTask


@dataclass(frozen=True)
class TaskActivities:
    """Run tool and reasoning tasks; safe to repeat because of receipts and the call ledger."""

    services: Services

    @implements(interfaces.tool_task)
    async def tool_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.EXTRACTOR)

    @implements(interfaces.reasoning_task)
    async def reasoning_task(self, order: TaskOrder) -> TaskReceipt:
        return await self._work(order, Component.REASONER)

    @implements(interfaces.fail_task)
    async def fail_task(self, order: FailTaskOrder) -> TaskReceipt:
        db, key = self.services.db, receipt_key(order)
        stored = await receipt_rows.find_receipt(db, order, key, TaskReceipt)
        if stored is not None:
            return stored
        task = (await task_queries.load_task(db, order.job_id, order.task_id)).task
        outcome = outcome_of_abandoned_attempt(order.message)
        return await store_outcome(
            CallLedger(db), order, task, outcome, tokens=0, worked_s=order.worked_s
        )

    async def _work(self, order: TaskOrder, component: Component) -> TaskReceipt:
        begun = await task_transactions.begin_task(self.services.db, order, receipt_key(order))
        if isinstance(begun, TaskReceipt):
            return begun
        request = await self.services.requests.of(order)
        model_caller = await self._model_caller(order, begun, request)
        try:
            outcome = await self._outcome(order, begun, request, model_caller, component)
            return await store_outcome(
                model_caller.ledger,
                order,
                begun.task,
                outcome,
                tokens=model_caller.tokens,
                worked_s=worked_seconds(),
            )
        finally:
            # An answer that arrived is kept, whatever else failed.
            await model_caller.ledger.settle()

    async def _outcome(
        self,
        order: TaskOrder,
        begun: RunningTask,
        request: JobRequest,
        model_caller: ModelCaller,
        component: Component,
    ) -> TaskOutcome:
        try:
            inputs, context = _resolved_inputs(begun), _dependency_values(begun)
            if not begun.task.tool:
                question = await self._question(order, begun, request)
                known = await values_of_tasks(self.services.db, order.job_id, begun.memory)
                return await run_reasoning_task(
                    model_caller,
                    question,
                    begun.task,
                    explained_inputs(begun.task, inputs, known),
                    explained_context(begun.task, context, known),
                )
            if begun.task.parent:
                await self._refuse_repeated_tool(order, begun, request)
            hub = self.services.hub.for_job(request)
            tool_task = ToolTaskContext(hub, model_caller, request, order, self.services.similarity)
            return await run_tool_task(tool_task, begun.task, inputs, context)
        except Lasting as error:
            return outcome_of_error(error, component)

    async def _question(
        self, order: TaskOrder, begun: RunningTask, request: JobRequest
    ) -> JobRequest:
        """The request with the task's question: a step knows only its agent's question."""
        if not begun.task.parent:
            return request
        agent_task = await task_queries.load_task(self.services.db, order.job_id, begun.task.parent)
        return request.model_copy(update={"question": agent_task.task.description})

    async def _refuse_repeated_tool(
        self, order: TaskOrder, begun: RunningTask, request: JobRequest
    ) -> None:
        """Refuse a call if the agent has called the same tool too often in a row (VMAO-04).

        Raises:
            ToolFailed: the agent sees this error as the tool's, and must do something else.
        """
        limit = request.strategy.max_consecutive_calls
        task = begun.task
        count = await agent_task_rows.count_consecutive_calls(
            self.services.db, order, task.parent, task.tool, limit
        )
        if count >= limit:
            raise ToolFailed(
                f"{task.tool} was called {count} times in a row by this agent and is not called "
                "again (max_consecutive_calls); use another tool, or conclude"
            )

    async def _model_caller(
        self, order: TaskOrder, begun: RunningTask, request: JobRequest
    ) -> ModelCaller:
        """The caller of the agent's own model if it has one, or of the job's model."""
        services, model = self.services, ""
        if begun.task.parent and services.agents.has_own_models:
            agent_task = await task_queries.load_task(services.db, order.job_id, begun.task.parent)
            model = services.agents.own_model(agent_task.task.agent)
        return ModelCaller.of(
            services,
            order,
            request,
            order.task_id,
            model=model,
            may_wait=True,
        )


def _resolved_inputs(begun: RunningTask) -> tuple[NamedValue, ...]:
    """The inputs with every reference resolved, before any tool or model is called."""
    return tuple(
        NamedValue(name=item.name, value=resolve_references(item.value, begun.memory))
        for item in begun.task.inputs
    )


def _dependency_values(begun: RunningTask) -> tuple[NamedValue, ...]:
    if not begun.task.include_context:
        return ()
    return tuple(
        NamedValue(name=f"{task_id}.{name}", value=value)
        for task_id, values in sorted(begun.memory.items())
        for name, value in values.items()
    )
