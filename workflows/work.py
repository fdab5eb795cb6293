"""What a job has under way: each an activity, whose receipt becomes part of the state."""

import asyncio
from collections.abc import Awaitable, Coroutine
from datetime import timedelta
from typing import Any, TypeAlias

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.orders import (
        FailTaskOrder,
        NodeOrder,
        ReadTasksOrder,
        ReplanOrder,
        ReportOrder,
        ReviseOrder,
        RoundOrder,
        TaskOrder,
        WorkOrder,
    )
    from models.plan import TaskKind, TaskStatus
    from models.state import (
        Action,
        AdvanceNode,
        FillGaps,
        MakePlan,
        NodeReceipt,
        PlanReceipt,
        Replan,
        Revise,
        StartTask,
        TaskReceipt,
        TaskState,
        Verify,
        WriteReport,
    )
    from planning import state as changes
    from workflows.answers import Answers
    from workflows.calling import bookkeeping, halt_of, is_over_budget, reason_of, suspends, working
    from workflows.display import REPLANS


_LEAST = timedelta(seconds=1)
"""A step that starts just before its agent's time is over has this long."""


PlanChange: TypeAlias = MakePlan | Replan | Revise | FillGaps


def _timed(receipt: TaskReceipt, took: timedelta) -> TaskReceipt:
    return receipt.model_copy(update={"seconds": took.total_seconds()})


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
        if isinstance(action, StartTask) and self._is_agent(action):
            self.has_news = True  # nothing runs yet: `decide` lets it advance now
            return
        if isinstance(action, Replan):
            workflow.upsert_search_attributes([REPLANS.value_set(self.known.total_replans)])
        self._spawn(type(action).__name__, self._carried_out(action))

    def _is_agent(self, action: StartTask) -> bool:
        return self.known.tasks[action.task_id].kind is TaskKind.AGENT

    def _carried_out(self, action: Action) -> Coroutine[Any, Any, None]:
        match action:
            case StartTask():
                return self._task(action)
            case AdvanceNode():
                return self._advance(action)
            case Verify():
                return self._verify(action)
            case WriteReport():
                return self._report(action)
            case MakePlan() | Replan() | Revise() | FillGaps():
                return self._change_plan(action)
        raise AssertionError(action)  # an ending is not work

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

    async def _change_plan(self, action: PlanChange) -> None:
        try:
            receipt = await self._asked_for(action)
        except ActivityError as error:
            await self._failed(action, error, "planning")
            return
        self._spent(receipt.tokens)
        # Read first, fold then: half a continuation must not be decided upon.
        behind = len(self.known.tasks) + len(receipt.added)
        rest = await self.read_on(behind if receipt.is_partial else None)
        self.state = changes.with_tasks(changes.planned(self.known, action, receipt), rest)

    def _asked_for(self, action: PlanChange) -> Awaitable[PlanReceipt]:
        """The activity that changes the plan."""
        strategy, base = self.known.strategy, self._order().model_dump()
        running = tuple(
            task.id for task in self.known.tasks.values() if task.status is TaskStatus.RUNNING
        )
        match action:
            case MakePlan():
                config = working("plan", "plan the research", strategy)
                return workflow.execute_activity(interfaces.make_plan, self._order(), **config)
            case Replan(task_id=task_id):
                summary = f"replan from {task_id}: {self.known.tasks[task_id].note}"
                config = working(f"replan-{task_id}", summary[:200], strategy)
                replan = ReplanOrder(**base, task_id=task_id, under_way=running)
                return workflow.execute_activity(interfaces.replan, replan, **config)
            case Revise(considered=considered):
                config = working(f"revise-{considered}", "revise what is still to do", strategy)
                revise = ReviseOrder(**base, considered=considered, under_way=running)
                return workflow.execute_activity(interfaces.revise_plan, revise, **config)
            case FillGaps(iteration=iteration):
                config = working(f"gaps-{iteration}", "plan what is missing", strategy)
                gaps = RoundOrder(**base, iteration=iteration)
                return workflow.execute_activity(interfaces.fill_gaps, gaps, **config)

    async def _verify(self, action: Verify) -> None:
        order = RoundOrder(**self._order().model_dump(), iteration=action.iteration)
        summary = f"verify the results, round {action.iteration}"
        config = working(f"verify-{action.iteration}", summary, self.known.strategy)
        try:
            receipt = await workflow.execute_activity(interfaces.verify_results, order, **config)
        except ActivityError as error:
            await self._failed(action, error, "verification")
            return
        self._spent(receipt.tokens)
        self.state = changes.verified(self.known, receipt)

    async def _failed(self, action: Action, error: ActivityError, what: str) -> None:
        """Take the work back where a person can make it possible; else it ends the job."""
        if suspends(error):
            self.state = changes.taken_back(self.known, action)
            why = f"{what}: {reason_of(error)}"[:2000]
            await self.pause_by_itself(why, (), is_over_budget=is_over_budget(error))
        else:
            self.state = changes.halted(self.known, action, halt_of(error, what))

    async def _task(self, action: StartTask) -> None:
        task_id = action.task_id
        task = self.known.tasks[task_id]
        order = self._task_order(task)
        activity_id = task_id if task.attempt == 1 else f"{task_id}#{task.attempt}"
        summary = f"{task_id} {task.label}"
        parent = self.known.tasks.get(task.parent)
        priority = parent.priority if parent else task.priority
        config = working(activity_id, summary, self.known.strategy, priority)
        if parent is not None:
            left = self.known.strategy.agent_timeout - timedelta(seconds=parent.seconds)
            config["schedule_to_close_timeout"] = max(left, _LEAST)
        began = workflow.now()
        stub = interfaces.tool_task if task.kind is TaskKind.TOOL else interfaces.reasoning_task
        try:
            receipt = await workflow.execute_activity(stub, order, **config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if suspends(error):
                self.state = changes.taken_back(self.known, action)
                why = f"{task_id}: {reason_of(error)}"[:2000]
                over = is_over_budget(error)
                await self.pause_by_itself(why, (task_id,), is_over_budget=over)
                return
            receipt = await self._give_up(order, error)
        self._spent(receipt.tokens)
        self.state = changes.finished(self.known, _timed(receipt, workflow.now() - began))

    def _task_order(self, task: TaskState) -> TaskOrder:
        return TaskOrder(
            job_id=self.job_id, epoch=self.epoch, task_id=task.id, attempt=task.attempt
        )

    async def _advance(self, action: AdvanceNode) -> None:
        """Let an agent decide how it goes on; its own model calls count as its work."""
        task_id = action.task_id
        task = self.known.tasks[task_id]
        round_ = len(self.known.steps_of(task_id))
        order = NodeOrder(
            **self._task_order(task).model_dump(), round=round_, must_end=action.must_end
        )
        place = task_id if round_ == 0 else f"{task_id}/{round_}"
        activity_id = place if task.attempt == 1 else f"{place}#{task.attempt}"
        done = "" if round_ == 0 else f" after {round_} step{'s' if round_ > 1 else ''}"
        summary = f"{task_id}{done}: {task.label}"
        config = working(activity_id, summary, self.known.strategy, task.priority)
        began = workflow.now()
        try:
            receipt = await workflow.execute_activity(interfaces.advance_node, order, **config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if suspends(error):
                await self._failed(action, error, task_id)
                return
            receipt = NodeReceipt(result=await self._give_up(self._task_order(task), error))
        self._spent(receipt.result.tokens)
        result = _timed(receipt.result, workflow.now() - began)
        self.state = changes.advanced(self.known, receipt.model_copy(update={"result": result}))

    async def _give_up(self, order: TaskOrder, error: ActivityError) -> TaskReceipt:
        """Temporal has given the attempt up; the failure is recorded and replanned as any other."""
        failing = FailTaskOrder(**order.model_dump(), message=reason_of(error))
        config = bookkeeping(f"fail-{order.task_id}", f"record that {order.task_id} failed")
        return await workflow.execute_activity(interfaces.fail_task, failing, **config)

    async def _report(self, action: WriteReport) -> None:
        asks_no_more = bool(self.known.questions)
        order = ReportOrder(**self._order().model_dump(), asks_no_more=asks_no_more)
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
