"""The durable job: carries out what `planning.decide` says, one activity per plan task.

It knows the plan's structure and statuses and nothing of its content, starts from a job's id alone,
and can be started again at any time: by Temporal's replay, as a new run, or after continue-as-new.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.jobs import JobStatus, StopReason
    from models.orders import BeginOrder, EndOrder, JobOrder, JobOutcome
    from models.state import EndJob
    from planning import state as changes
    from planning.decide import decide
    from workflows.calling import bookkeeping, halt_of
    from workflows.deadlines import deadlines_kept
    from workflows.display import REPLANS, STATUS, TOKENS, plan_table
    from workflows.work import Work

_EVENTS_PER_RUN = 1500
"""A replay costs about 3 ms per task and must fit into one workflow task: about 200 tasks a run."""
_CANCELLED = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)


@workflow.defn(name="research_job")
class ResearchJob(Work):
    """One research job, from the question to the delivered report."""

    def __init__(self) -> None:
        super().__init__()
        self.outcome: EndJob | None = None

    @workflow.run
    async def run(self, order: JobOrder) -> JobOutcome:
        """Work the job to its end; the outcome's content is in PostgreSQL."""
        self.job_id = order.job_id
        ending = await self._worked()
        self.is_ending = True
        closing = asyncio.create_task(self._closed(ending), name="end")
        try:
            return await asyncio.shield(closing)
        except asyncio.CancelledError:
            # Too late to cancel anything but the record of how it ended, and that must be made.
            return await closing

    async def _worked(self) -> EndJob:
        """Work until there is a reason to end; being cancelled or given up is one."""
        try:
            await self._begin()
            async with deadlines_kept(self):
                return self.outcome or await self._work()
        except asyncio.CancelledError:
            return _CANCELLED
        except ActivityError as error:
            if is_cancelled_exception(error):
                return _CANCELLED
            message = halt_of(error, "the job").message
            return EndJob(status=JobStatus.FAILED, reason=StopReason.ERROR, message=message)

    async def _closed(self, ending: EndJob) -> JobOutcome:
        """Stop what is under way, let who is being answered have the answer, record the end."""
        await self.stop_work()
        if self.state is None:
            # Without the epoch nothing can be recorded.
            await self._begin()
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self.outcome is not None:
            return JobOutcome(job_id=self.job_id, **self.outcome.model_dump())
        return await self._end(ending)

    async def _begin(self) -> None:
        order = BeginOrder(job_id=self.job_id, run_id=workflow.info().run_id)
        brief = await workflow.execute_activity(
            interfaces.begin_job, order, **bookkeeping("begin", "take the job over")
        )
        self.epoch, self.tokens, self.attempt = brief.epoch, brief.tokens, brief.attempt
        self.outcome = brief.outcome
        rest = await self.read_on(brief.page.next_after)
        self.state = changes.rebuilt(
            brief.strategy,
            brief,
            (*brief.page.tasks, *rest),
            is_paused=brief.is_paused,
            closing=brief.closing,
        )
        status = JobStatus.PAUSED if brief.is_paused else JobStatus.RUNNING
        if brief.outcome is not None:
            status = brief.outcome.status
        replans = REPLANS.value_set(self.known.total_replans)
        workflow.upsert_search_attributes([STATUS.value_set(status.value), replans])

    async def _work(self) -> EndJob:
        while True:
            if self.is_asked_to_cancel:
                return _CANCELLED
            for action in () if self._is_rolling or self.changing else decide(self.known):
                if isinstance(action, EndJob):
                    self.is_ending = True
                    return action
                self.start(action)
            workflow.set_current_details(plan_table(self.known))
            if self._is_rolling and not self.under_way:
                await workflow.wait_condition(lambda: self._is_quiet)
                if not self.is_asked_to_cancel:
                    workflow.continue_as_new(JobOrder(job_id=self.job_id))
            await workflow.wait_condition(lambda: self.has_news)
            self.has_news = False
            if self.broken is not None:
                # An activity that was given up ends the job; a fault of ours fails the workflow
                # task, which waits for a mended worker.
                raise self.broken

    @property
    def _is_quiet(self) -> bool:
        """Whether nobody is being answered, nor a question by its default."""
        return workflow.all_handlers_finished() and not self.changing

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
