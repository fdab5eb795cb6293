"""The workflow of one research job: carry out the actions that planning decides, until the end.

The workflow holds the plan's structure and statuses, never the content of results. It starts from
the job's id alone, and can start again at any time: by Temporal's replay, as a new run, or after
continue-as-new.
"""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.jobs.activity_orders import BeginOrder, EndOrder, JobOrder, JobOutcome
    from holdfast.models.jobs.job_record import JobStatus, StopReason
    from holdfast.models.jobs.job_state import EndJob
    from holdfast.models.wire import stored_keys
    from holdfast.planning.scheduler import state_transitions as changes
    from holdfast.planning.scheduler.next_actions import decide
    from holdfast.workflows.activity_calls import database_activity_config, halt_for_error
    from holdfast.workflows.database_comparison import DatabaseRestored
    from holdfast.workflows.job_actions import JobActions
    from holdfast.workflows.question_deadlines import watch_deadlines
    from holdfast.workflows.temporal_display import (
        REPLANS_ATTRIBUTE,
        STATUS_ATTRIBUTE,
        TOKENS_ATTRIBUTE,
        plan_table,
    )
    from holdfast.workflows.workflow_closing import close_workflow

_MAX_EVENTS_PER_RUN = 1500
"""A replay costs about 3 ms per task and must fit into one workflow task: about 200 tasks a run."""
_CANCELLED_ENDING = EndJob(status=JobStatus.CANCELLED, reason=StopReason.CANCELLED)


@workflow.defn(name="research_job")
class ResearchJob(JobActions):
    """One research job, from the question to the delivered report."""

    def __init__(self) -> None:
        super().__init__()
        self.outcome: EndJob | None = None
        self._after_epoch = 0

    @workflow.run
    async def run(self, order: JobOrder) -> JobOutcome:
        """Run the job to its end; the report itself is in PostgreSQL.

        Raises:
            ApplicationError: the job failed.
            asyncio.CancelledError: the job was cancelled.
        """
        self.job_id, self._after_epoch = order.job_id, order.after_epoch
        try:
            outcome = await self._run_to_end()
        except DatabaseRestored:
            await self._begin_again()
            raise
        return await close_workflow(outcome)

    async def _run_to_end(self) -> JobOutcome:
        ending = await self._run_until_ending()
        self.is_ending = True
        closing = asyncio.create_task(self._stop_and_record_end(ending), name="end")
        try:
            return await asyncio.shield(closing)
        except asyncio.CancelledError:
            # Only the record of the job's end is left to cancel, and the record must be written.
            return await closing

    async def _run_until_ending(self) -> EndJob:
        """Run actions until the job has a reason to end, and return the ending."""
        try:
            await self._begin()
            async with watch_deadlines(self):
                return self.outcome or await self._run_actions()
        except asyncio.CancelledError:
            return _CANCELLED_ENDING
        except ActivityError as error:
            if is_cancelled_exception(error):
                return _CANCELLED_ENDING
            message = halt_for_error(error, "the job").message
            return EndJob(status=JobStatus.FAILED, reason=StopReason.ERROR, message=message)

    async def _stop_and_record_end(self, ending: EndJob) -> JobOutcome:
        """Cancel running activities, wait for open updates, and record how the job ended."""
        await self.stop_work()
        if self.state is None:
            # Without the epoch nothing can be recorded.
            await self._begin()
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self.outcome is not None:
            return JobOutcome(job_id=self.job_id, **self.outcome.model_dump())
        return await self._end(ending)

    async def _begin(self) -> None:
        run_id = workflow.info().run_id
        order = BeginOrder(job_id=self.job_id, run_id=run_id, after_epoch=self._after_epoch)
        brief = await workflow.execute_activity(
            interfaces.begin_job,
            order,
            **database_activity_config(stored_keys.BEGIN_ACTIVITY, "take the job over"),
        )
        self.epoch, self.tokens, self.attempt = brief.epoch, brief.tokens, brief.attempt
        self.outcome = brief.outcome
        self.note(brief)
        rest = await self.read_remaining_tasks(brief.page.next_after)
        self.state = changes.rebuild_state(
            brief.strategy,
            brief,
            (*brief.page.tasks, *rest),
            is_paused=brief.is_paused,
            closing=brief.closing,
        )
        status = JobStatus.PAUSED if brief.is_paused else JobStatus.RUNNING
        if brief.outcome is not None:
            status = brief.outcome.status
        replans = REPLANS_ATTRIBUTE.value_set(self.known.total_replans)
        workflow.upsert_search_attributes([STATUS_ATTRIBUTE.value_set(status.value), replans])

    async def _run_actions(self) -> EndJob:
        while True:
            if self.is_asked_to_cancel:
                return _CANCELLED_ENDING
            for action in (
                () if self._must_start_fresh_run or self.changes_in_progress else decide(self.known)
            ):
                if isinstance(action, EndJob):
                    self.is_ending = True
                    return action
                self.start(action)
            workflow.set_current_details(plan_table(self.known))
            if self._must_start_fresh_run and not self.under_way:
                await workflow.wait_condition(lambda: self._has_no_pending_change)
                if not self.is_asked_to_cancel:
                    workflow.continue_as_new(self._next_run())
            await workflow.wait_condition(lambda: self.has_news)
            self.has_news = False
            if self.unexpected_error is not None:
                # A failed activity ends the job. A bug in Holdfast fails the workflow task, which
                # waits for a corrected worker.
                raise self.unexpected_error

    @property
    def _has_no_pending_change(self) -> bool:
        """True if no update and no default answer is being handled."""
        return workflow.all_handlers_finished() and not self.changes_in_progress

    @property
    def _must_start_fresh_run(self) -> bool:
        """True if this run must start nothing more and continue as a new run.

        False once the job is about to end: only this run knows why the job halted.
        """
        if self.known.halt is not None or self.known.has_report:
            return False
        if self.must_continue_as_new:
            return True
        info = workflow.info()
        is_long = info.get_current_history_length() > _MAX_EVENTS_PER_RUN
        return is_long or info.is_continue_as_new_suggested()

    def _next_run(self) -> JobOrder:
        return JobOrder(job_id=self.job_id, after_epoch=max(self.epoch, self._after_epoch))

    async def _begin_again(self) -> None:
        """Continue as a new run from PostgreSQL, which was restored from a backup."""
        workflow.logger.warning("database.restored")
        await self.stop_work()
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(self._next_run())

    async def _end(self, ending: EndJob) -> JobOutcome:
        order = EndOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            status=ending.status,
            reason=ending.reason,
            message=ending.message,
        )
        config = database_activity_config(stored_keys.END_ACTIVITY, f"end: {ending.reason.value}")
        outcome = await self.run_activity(interfaces.end_job, order, config)
        status = STATUS_ATTRIBUTE.value_set(ending.status.value)
        workflow.upsert_search_attributes([status, TOKENS_ATTRIBUTE.value_set(self.tokens)])
        if self.state is not None:
            workflow.set_current_details(plan_table(self.state))
        return outcome
