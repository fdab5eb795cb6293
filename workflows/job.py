"""The durable job: carries out what `planning.decide` says, one activity per plan task.

It knows the plan's structure and statuses and nothing of its content, starts from a job's id alone,
and can be started again at any time: by Temporal's replay, as a new run, or after continue-as-new.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.jobs import JobStatus, StopReason
    from models.orders import (
        BeginOrder,
        EndOrder,
        FailTaskOrder,
        JobBrief,
        JobOrder,
        JobOutcome,
        ReadTasksOrder,
        ReplanOrder,
        TaskOrder,
        WorkOrder,
    )
    from models.plan import TaskKind, TaskStatus
    from models.state import (
        Action,
        EndJob,
        JobState,
        MakePlan,
        PlanReceipt,
        Replan,
        StartTask,
        TaskReceipt,
        TaskState,
        WriteReport,
    )
    from planning import state as changes
    from planning.decide import decide
    from workflows.calling import bookkeeping, halt_of, reason_of, suspends, working
    from workflows.controls import Controls
    from workflows.display import REPLANS, STATUS, TOKENS, plan_table

_EVENTS_PER_RUN = 1500
"""A replay costs about 3 ms per task and must fit into one workflow task: about 200 tasks a run."""


@workflow.defn(name="research_job")
class ResearchJob(Controls):
    """One research job, from the question to the delivered report."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt = 1
        self.tokens = 0
        self.outcome: EndJob | None = None
        # A dict and not a set: what is cancelled in turn must be in the same turn on replay.
        self.under_way: dict[asyncio.Task[None], None] = {}
        self.broken: BaseException | None = None

    @workflow.run
    async def run(self, order: JobOrder) -> JobOutcome:
        """Work the job to its end; the outcome's content is in PostgreSQL."""
        self.job_id = order.job_id
        ending = await self._worked()
        self.is_ending = True
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self.outcome is not None:
            return JobOutcome(job_id=self.job_id, **self.outcome.model_dump())
        recording = asyncio.create_task(self._end(ending), name="end")
        try:
            return await asyncio.shield(recording)
        except asyncio.CancelledError:
            # Too late to cancel anything but the record of how it ended, and that must be made.
            return await recording

    async def _worked(self) -> EndJob:
        """Work until there is a reason to end; being cancelled or given up is one."""
        try:
            await self._begin()
            ending = self.outcome or await self._work()
            if ending.status is not JobStatus.CANCELLED or not self.under_way:
                return ending
        except asyncio.CancelledError:
            ending = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)
        except ActivityError as error:
            if is_cancelled_exception(error):
                ending = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)
            else:
                halt = halt_of(error, "the job")
                reason = StopReason.ERROR
                ending = EndJob(status=JobStatus.FAILED, reason=reason, message=halt.message)
        self.is_ending = True
        await self._stop_work()
        if self.state is None:
            # Without the epoch nothing can be recorded.
            await self._begin()
        return ending

    async def _begin(self) -> None:
        order = BeginOrder(job_id=self.job_id, run_id=workflow.info().run_id)
        brief = await workflow.execute_activity(
            interfaces.begin_job, order, **bookkeeping("begin", "take the job over")
        )
        self.epoch, self.tokens, self.attempt = brief.epoch, brief.tokens, brief.attempt
        self.outcome = brief.outcome
        rest = await self._read_on(brief.page.next_after)
        self.state = changes.with_tasks(_state(brief), rest)
        status = JobStatus.PAUSED if brief.is_paused else JobStatus.RUNNING
        workflow.upsert_search_attributes([STATUS.value_set(status.value)])

    async def _read_on(self, after: int | None) -> list[TaskState]:
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

    async def _work(self) -> EndJob:
        while True:
            if self.is_asked_to_cancel:
                return EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)
            for action in () if self._is_rolling or self.changing else decide(self.known):
                if isinstance(action, EndJob):
                    self.is_ending = True
                    return action
                self._start(action)
            workflow.set_current_details(plan_table(self.known))
            if self._is_rolling and not self.under_way:
                await workflow.wait_condition(workflow.all_handlers_finished)
                if not self.is_asked_to_cancel:
                    workflow.continue_as_new(JobOrder(job_id=self.job_id))
            await workflow.wait_condition(lambda: self.has_news)
            self.has_news = False
            if self.broken is not None:
                # An activity that was given up ends the job; a fault of ours fails the workflow
                # task, which waits for a mended worker.
                raise self.broken

    @property
    def _is_rolling(self) -> bool:
        """Whether this run is long enough: it starts nothing more, and a fresh one goes on.

        Not once the job is about to end: only this run knows of its halt.
        """
        if self.known.halt is not None or self.known.has_report:
            return False
        if self.must_roll:
            return True
        info = workflow.info()
        is_long = info.get_current_history_length() > _EVENTS_PER_RUN
        return is_long or info.is_continue_as_new_suggested()

    def _start(self, action: Action) -> None:
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
        rest = await self._read_on(behind if receipt.is_partial else None)
        self.state = changes.with_tasks(changes.planned(self.known, receipt), rest)

    async def _failed(self, action: Action, error: ActivityError, what: str) -> None:
        """Take the work back where a person can make it possible; else it ends the job."""
        if suspends(error):
            self.state = changes.taken_back(self.known, action)
            await self.pause_by_itself(f"{what}: {reason_of(error)}"[:2000], ())
        else:
            self.state = changes.halted(self.known, halt_of(error, what))

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

    async def _stop_work(self) -> None:
        """Cancelling the workflow does not cancel the tasks it created."""
        tasks = list(self.under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _end(self, ending: EndJob) -> JobOutcome:
        order = EndOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            status=ending.status,
            reason=ending.reason,
            message=ending.message,
        )
        outcome = await workflow.execute_activity(
            interfaces.end_job, order, **bookkeeping("end", f"end: {ending.reason.value}")
        )
        status = STATUS.value_set(ending.status.value)
        workflow.upsert_search_attributes([status, TOKENS.value_set(self.tokens)])
        if self.state is not None:
            workflow.set_current_details(plan_table(self.state))
        return outcome


def _state(brief: JobBrief) -> JobState:
    return changes.with_tasks(
        JobState(
            strategy=brief.strategy,
            has_plan=brief.has_plan,
            replans=brief.replans,
            tool_calls=brief.tool_calls,
            has_report=brief.has_report,
            is_paused=brief.is_paused,
            closing=brief.closing,
        ),
        brief.page.tasks,
    )
