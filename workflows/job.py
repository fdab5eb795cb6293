"""The durable job: carries out what `planning.decide` says, one activity per plan task.

It knows the plan's structure and statuses and nothing of its content, starts from a job's id alone,
and can be started again at any time: by Temporal's replay, as a new run, or after continue-as-new.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.exceptions import TimeoutError as OutOfTime

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
        RunOrder,
        TaskOrder,
    )
    from models.plan import TaskKind, TaskStatus
    from models.state import (
        Action,
        EndJob,
        Halt,
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
    from workflows.calling import bookkeeping, working
    from workflows.display import REPLANS, STATUS, TOKENS, plan_table

_EVENTS_PER_RUN = 1500
"""A replay costs about 3 ms per task and must fit into one workflow task: about 200 tasks a run."""


@workflow.defn(name="research_job")
class ResearchJob:
    """One research job, from the question to the delivered report."""

    def __init__(self) -> None:
        self.state: JobState | None = None
        self.epoch = 0
        self.tokens = 0
        # A dict and not a set: what is cancelled in turn must be in the same turn on replay.
        self.under_way: dict[asyncio.Task[None], None] = {}
        self.has_news = False
        self.broken: BaseException | None = None
        self.job_id = ""

    @workflow.run
    async def run(self, order: JobOrder) -> JobOutcome:
        """Work the job to its end; the outcome's content is in PostgreSQL."""
        self.job_id = order.job_id
        ending = await self._worked()
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
            return await self._work()
        except asyncio.CancelledError:
            ending = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)
        except ActivityError as error:
            if is_cancelled_exception(error):
                ending = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)
            else:
                halt = _halt(error, "the job")
                reason = StopReason.ERROR
                ending = EndJob(status=JobStatus.FAILED, reason=reason, message=halt.message)
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
        self.epoch, self.tokens = brief.epoch, brief.tokens
        state = _state(brief)
        self.state = changes.with_tasks(state, await self._read_on(brief.page.next_after))
        workflow.upsert_search_attributes([STATUS.value_set(JobStatus.RUNNING.value)])

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
            for action in () if self._is_rolling else decide(self._known):
                if isinstance(action, EndJob):
                    return action
                self._start(action)
            workflow.set_current_details(plan_table(self._known))
            if self._is_rolling and not self.under_way:
                workflow.continue_as_new(JobOrder(job_id=self.job_id))
            await workflow.wait_condition(lambda: self.has_news)
            self.has_news = False
            if self.broken is not None:
                # An activity that was given up ends the job; a fault of ours fails the workflow
                # task, which waits for a mended worker.
                raise self.broken

    @property
    def _known(self) -> JobState:
        assert self.state is not None, "the job has begun"
        return self.state

    @property
    def _is_rolling(self) -> bool:
        """Whether this run is long enough: it starts nothing more, and a fresh one goes on.

        Not once the job is about to end: only this run knows of its halt.
        """
        if self._known.halt is not None or self._known.has_report:
            return False
        info = workflow.info()
        is_long = info.get_current_history_length() > _EVENTS_PER_RUN
        return is_long or info.is_continue_as_new_suggested()

    def _start(self, action: Action) -> None:
        self.state = changes.started(self._known, action)
        match action:
            case MakePlan():
                self._spawn("plan", self._plan())
            case Replan(task_id=task_id):
                self._spawn(f"replan {task_id}", self._replan(task_id))
                replans = self._known.total_replans
                workflow.upsert_search_attributes([REPLANS.value_set(replans)])
            case StartTask(task_id=task_id):
                self._spawn(task_id, self._task(task_id))
            case WriteReport():
                self._spawn("report", self._report())

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=name)
        self.under_way[task] = None
        task.add_done_callback(self._came_back)

    def _came_back(self, task: asyncio.Task[None]) -> None:
        self.under_way.pop(task, None)
        self.has_news = True
        if not task.cancelled() and task.exception() is not None:
            self.broken = task.exception()

    async def _plan(self) -> None:
        order = RunOrder(job_id=self.job_id, epoch=self.epoch)
        config = working("plan", "plan the research", self._known.strategy)
        await self._revise(workflow.execute_activity(interfaces.make_plan, order, **config))

    async def _replan(self, task_id: str) -> None:
        running = [t.id for t in self._known.tasks.values() if t.status is TaskStatus.RUNNING]
        order = ReplanOrder(
            job_id=self.job_id, epoch=self.epoch, task_id=task_id, under_way=tuple(running)
        )
        summary = f"replan from {task_id}: {self._known.tasks[task_id].note}"
        config = working(f"replan-{task_id}", summary[:200], self._known.strategy)
        await self._revise(workflow.execute_activity(interfaces.replan, order, **config))

    async def _revise(self, planning: Awaitable[PlanReceipt]) -> None:
        try:
            receipt = await planning
        except ActivityError as error:
            self.state = changes.halted(self._known, _halt(error, "planning"))
            return
        self._spent(receipt.tokens)
        # Read first, fold then: half a continuation must not be decided upon.
        behind = len(self._known.tasks) + len(receipt.added)
        rest = await self._read_on(behind if receipt.is_partial else None)
        self.state = changes.with_tasks(changes.planned(self._known, receipt), rest)

    async def _task(self, task_id: str) -> None:
        task = self._known.tasks[task_id]
        order = TaskOrder(
            job_id=self.job_id, epoch=self.epoch, task_id=task_id, attempt=task.attempt
        )
        activity_id = task_id if task.attempt == 1 else f"{task_id}#{task.attempt}"
        summary = f"{task_id} {task.label}"
        config = working(activity_id, summary, self._known.strategy, task.priority)
        stub = interfaces.tool_task if task.kind is TaskKind.TOOL else interfaces.reasoning_task
        try:
            receipt = await workflow.execute_activity(stub, order, **config)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            receipt = await self._give_up(order, error)
        self._spent(receipt.tokens)
        self.state = changes.finished(self._known, receipt)

    async def _give_up(self, order: TaskOrder, error: ActivityError) -> TaskReceipt:
        """Temporal has given the attempt up; the failure is recorded and replanned as any other."""
        failing = FailTaskOrder(**order.model_dump(), message=_reason(error))
        config = bookkeeping(f"fail-{order.task_id}", f"record that {order.task_id} failed")
        return await workflow.execute_activity(interfaces.fail_task, failing, **config)

    async def _report(self) -> None:
        order = RunOrder(job_id=self.job_id, epoch=self.epoch)
        config = working("report", "write the report", self._known.strategy)
        try:
            receipt = await workflow.execute_activity(interfaces.write_report, order, **config)
        except ActivityError as error:
            self.state = changes.halted(self._known, _halt(error, "the report"))
            return
        self._spent(receipt.tokens)
        self.state = changes.reported(self._known, receipt)
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
        ),
        brief.page.tasks,
    )


def _reason(error: ActivityError) -> str:
    """Why Temporal gave an activity up, in words."""
    cause = error.cause
    if isinstance(cause, OutOfTime):
        kind = cause.type.name.lower() if cause.type else "time"
        return f"it did not finish in time ({kind.replace('_', ' ')})"
    if isinstance(cause, ApplicationError):
        return str(cause.message)
    return str(cause or error)


def _halt(error: ActivityError, what: str) -> Halt:
    return Halt(reason=StopReason.ERROR, message=f"{what} failed: {_reason(error)}"[:2000])
