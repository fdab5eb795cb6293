"""What a job has under way: each an activity, whose receipt becomes part of the state."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.orders import FailTaskOrder, ReadTasksOrder, ReplanOrder, TaskOrder, WorkOrder
    from models.plan import TaskKind, TaskStatus
    from models.state import (
        Action,
        MakePlan,
        PlanReceipt,
        Replan,
        StartTask,
        TaskReceipt,
        TaskState,
        WriteReport,
    )
    from planning import state as changes
    from workflows.answers import Answers
    from workflows.calling import bookkeeping, halt_of, reason_of, suspends, working
    from workflows.display import REPLANS


class Work(Answers):
    """The part of a job's workflow that carries out one action after another."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt = 1
        self.tokens = 0
        # A dict and not a set: what is cancelled in turn must be in the same turn on replay.
        self.under_way: dict[asyncio.Task[None], None] = {}
        self.broken: BaseException | None = None

    def start(self, action: Action) -> None:
        """Begin what `decide` chose; whoever waits is told by `has_news` when it is over."""
        self.state = changes.started(self.known, action)
        match action:
            case MakePlan():
                self._spawn("plan", self._plan(action))
            case Replan(task_id=task_id):
                self._spawn(f"replan {task_id}", self._replan(action))
                replans = self.known.total_replans
                workflow.upsert_search_attributes([REPLANS.value_set(replans)])
            case StartTask(task_id=task_id):
                self._spawn(task_id, self._task(action))
            case WriteReport():
                self._spawn("report", self._report(action))

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=name)
        self.under_way[task] = None
        task.add_done_callback(self._came_back)

    def _came_back(self, task: asyncio.Task[None]) -> None:
        self.under_way.pop(task, None)
        self.has_news = True
        if not task.cancelled() and task.exception() is not None:
            self.broken = task.exception()

    def _order(self) -> WorkOrder:
        return WorkOrder(job_id=self.job_id, epoch=self.epoch, attempt=self.attempt)

    async def _plan(self, action: MakePlan) -> None:
        order = self._order()
        config = working("plan", "plan the research", self.known.strategy)
        planning = workflow.execute_activity(interfaces.make_plan, order, **config)
        await self._revise(action, planning)

    async def _replan(self, action: Replan) -> None:
        task_id = action.task_id
        running = [t.id for t in self.known.tasks.values() if t.status is TaskStatus.RUNNING]
        order = ReplanOrder(**self._order().model_dump(), task_id=task_id, under_way=tuple(running))
        summary = f"replan from {task_id}: {self.known.tasks[task_id].note}"
        config = working(f"replan-{task_id}", summary[:200], self.known.strategy)
        await self._revise(action, workflow.execute_activity(interfaces.replan, order, **config))

    async def _revise(self, action: MakePlan | Replan, planning: Awaitable[PlanReceipt]) -> None:
        try:
            receipt = await planning
        except ActivityError as error:
            await self._failed(action, error, "planning")
            return
        self._spent(receipt.tokens)
        # Read first, fold then: half a continuation must not be decided upon.
        behind = len(self.known.tasks) + len(receipt.added)
        rest = await self.read_on(behind if receipt.is_partial else None)
        self.state = changes.with_tasks(changes.planned(self.known, action, receipt), rest)

    async def _failed(self, action: Action, error: ActivityError, what: str) -> None:
        """Take the work back where a person can make it possible; else it ends the job."""
        if suspends(error):
            self.state = changes.taken_back(self.known, action)
            await self.pause_by_itself(f"{what}: {reason_of(error)}"[:2000], ())
        else:
            self.state = changes.halted(self.known, action, halt_of(error, what))

    async def _task(self, action: StartTask) -> None:
        task_id = action.task_id
        task = self.known.tasks[task_id]
        order = TaskOrder(
            job_id=self.job_id, epoch=self.epoch, task_id=task_id, attempt=task.attempt
        )
        activity_id = task_id if task.attempt == 1 else f"{task_id}#{task.attempt}"
        summary = f"{task_id} {task.label}"
        config = working(activity_id, summary, self.known.strategy, task.priority)
        stub = interfaces.tool_task if task.kind is TaskKind.TOOL else interfaces.reasoning_task
        try:
            receipt = await workflow.execute_activity(stub, order, **config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if suspends(error):
                self.state = changes.taken_back(self.known, action)
                await self.pause_by_itself(f"{task_id}: {reason_of(error)}"[:2000], (task_id,))
                return
            receipt = await self._give_up(order, error)
        self._spent(receipt.tokens)
        self.state = changes.finished(self.known, receipt)

    async def _give_up(self, order: TaskOrder, error: ActivityError) -> TaskReceipt:
        """Temporal has given the attempt up; the failure is recorded and replanned as any other."""
        failing = FailTaskOrder(**order.model_dump(), message=reason_of(error))
        config = bookkeeping(f"fail-{order.task_id}", f"record that {order.task_id} failed")
        return await workflow.execute_activity(interfaces.fail_task, failing, **config)

    async def _report(self, action: WriteReport) -> None:
        order = self._order()
        config = working("report", "write the report", self.known.strategy)
        try:
            receipt = await workflow.execute_activity(interfaces.write_report, order, **config)
        except ActivityError as error:
            await self._failed(action, error, "the report")
            return
        self._spent(receipt.tokens)
        self.state = changes.reported(self.known, receipt)
        if receipt.first_lines:
            workflow.upsert_memo({"report": receipt.first_lines})

    def _spent(self, tokens: int) -> None:
        self.tokens += tokens

    async def stop_work(self) -> None:
        """Cancelling the workflow does not cancel the tasks it created."""
        tasks = list(self.under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def read_on(self, after: int | None) -> list[TaskState]:
        """The further pages of a plan that does not fit into one payload."""
        tasks: list[TaskState] = []
        while after is not None:
            order = ReadTasksOrder(job_id=self.job_id, epoch=self.epoch, after=after)
            page = await workflow.execute_activity(
                interfaces.read_tasks, order, **bookkeeping(f"read-{after}", "read the plan on")
            )
            tasks += page.tasks
            after = page.next_after
        return tasks
