"""Accept or refuse the updates that pause, resume, retry, steer and cancel a running job.

Each change is recorded in PostgreSQL with the name of the person, then made in the workflow's
state; a change that cannot be recorded is not made. Nothing new starts while a change is handled,
so the conditions that were checked still hold.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.errors import BadInput, HoldfastError
    from holdfast.models.jobs.activity_orders import ControlOrder, RetryOrder
    from holdfast.models.jobs.job_record import JobStatus
    from holdfast.models.jobs.job_state import ControlReceipt, JobState
    from holdfast.models.questions.control_requests import (
        ControlKind,
        ControlRequest,
        RerunScope,
        ResumeRequest,
        RetryRequest,
        SteerRequest,
    )
    from holdfast.models.wire import stored_keys
    from holdfast.planning.scheduler import state_transitions as changes
    from holdfast.planning.scheduler.rerun_scope import retry_scope
    from holdfast.workflows.activity_calls import database_activity_config
    from holdfast.workflows.database_comparison import DatabaseComparison
    from holdfast.workflows.temporal_display import STATUS_ATTRIBUTE

ENGINE_ACTOR = "holdfast"
"""The name under which the engine itself pauses a job."""


class ControlUpdates(DatabaseComparison):
    """The part of a job's workflow that receives control updates."""

    def __init__(self) -> None:
        super().__init__()
        self.state: JobState | None = None
        self.is_ending = False
        self.is_asked_to_cancel = False
        self.must_continue_as_new = False
        """True if PostgreSQL holds changes that only a new run reads."""
        self.changes_in_progress = 0
        self._change_lock = asyncio.Lock()
        self._own_pauses = 0

    @property
    def known(self) -> JobState:
        """The state of the job; the job must have begun."""
        assert self.state is not None, "the job has begun"
        return self.state

    @workflow.update
    async def pause(self, request: ControlRequest) -> None:
        """Start nothing new; running tasks finish."""
        async with self._one_change_at_a_time():
            self._may_pause()
            await self._record(ControlKind.PAUSED, request.by)
            self.state = changes.set_paused(self.known)

    @pause.validator
    def _check_pause(self, request: ControlRequest) -> None:  # noqa: ARG002 - the update's shape
        with errors_as_refusals():
            self._may_pause()

    def _may_pause(self) -> None:
        self._refuse_if_closing()
        if self.state is not None and self.state.is_paused:
            raise BadInput(f"job {self.job_id} is paused already")

    @workflow.update
    async def resume(self, request: ResumeRequest) -> None:
        """Continue a paused job, with other settings if the request has any."""
        async with self._one_change_at_a_time():
            self._may_resume()
            await self._record(ControlKind.RESUMED, request.by, request=request)
            self.state = changes.set_paused(self.known, is_paused=False)
            self.must_continue_as_new = self.must_continue_as_new or request.strategy is not None

    @resume.validator
    def _check_resume(self, request: ResumeRequest) -> None:  # noqa: ARG002 - the update's shape
        with errors_as_refusals():
            self._may_resume()

    def _may_resume(self) -> None:
        self._refuse_if_ending()
        if self.state is not None and not self.state.is_paused:
            raise BadInput(f"job {self.job_id} is not paused")

    @workflow.update
    async def retry(self, request: RetryRequest) -> RerunScope:
        """Run tasks and their downstream tasks again; return what runs again and what is kept."""
        async with self._one_change_at_a_time():
            chosen = self._may_retry(request)
            order = RetryOrder(
                job_id=self.job_id,
                epoch=self.epoch,
                key=self._key(),
                by=request.by,
                tasks=request.tasks,
                rerun=chosen.rerun,
            )
            config = database_activity_config(
                order.key, f"run again: {', '.join(request.tasks)}"[:200]
            )
            await self.run_activity(interfaces.retry_tasks, order, config)
            self.must_continue_as_new = True
            return chosen

    @retry.validator
    def _check_retry(self, request: RetryRequest) -> None:
        with errors_as_refusals():
            if self.state is not None:
                self._refuse_while_judged()
                self._may_retry(request)

    def _refuse_while_judged(self) -> None:
        """Refuse a retry that would delete results which the verifier or the reviser looks at.

        The validator alone asks, since nothing starts once the update is accepted, and a history
        in which such a retry was accepted must replay.

        Raises:
            BadInput: a verification or a revision is under way.
        """
        if self.known.is_verifying:
            raise BadInput(f"the results of {self.job_id} are being verified; retry in a moment")
        if self.known.is_revising:
            raise BadInput(f"the plan of {self.job_id} is being changed; retry in a moment")

    def _may_retry(self, request: RetryRequest) -> RerunScope:
        self._refuse_if_closing()
        if self.known.is_planning or self.known.replanning:
            raise BadInput(f"the plan of {self.job_id} is being changed; retry in a moment")
        if self.known.is_reporting:
            raise BadInput(f"the report of {self.job_id} is being written; retry once it has ended")
        return retry_scope(self.known, request.tasks)

    @workflow.update
    async def steer(self, request: SteerRequest) -> None:
        """Give guidance to the next planning."""
        async with self._one_change_at_a_time():
            self._refuse_if_closing()
            await self._record(ControlKind.STEERED, request.by, guidance=request.guidance)

    @steer.validator
    def _check_steer(self, request: SteerRequest) -> None:  # noqa: ARG002 - the update's shape
        with errors_as_refusals():
            self._refuse_if_closing()

    @workflow.update
    async def cancel(self, request: ControlRequest) -> None:
        """Cancel running calls and end the job; its results are kept."""
        async with self._one_change_at_a_time():
            self._refuse_if_ending()
            await self._record(ControlKind.CANCELLING, request.by)
            self.is_asked_to_cancel = True

    @cancel.validator
    def _check_cancel(self, request: ControlRequest) -> None:  # noqa: ARG002 - the update's shape
        with errors_as_refusals():
            self._refuse_if_ending()

    async def pause_by_itself(
        self, why: str, reset_tasks: tuple[str, ...], *, is_over_budget: bool = False
    ) -> None:
        """Pause the job because its next action would fail; the caller has undone the action.

        The state is set before the first await, so that the action does not start again at once.
        When the budget is reached, a question is asked, which can be answered at once: the new run
        that reads its effect begins only when the running tasks have finished.
        """
        self.state = changes.set_paused(self.known)
        async with self._one_change_at_a_time():
            self._own_pauses += 1
            self.state = changes.set_paused(self.known)
            key = stored_keys.own_pause_key(self._own_pauses, self.epoch)
            receipt = await self._record(
                ControlKind.PAUSED,
                ENGINE_ACTOR,
                key=key,
                message=why,
                reset_tasks=reset_tasks,
                is_over_budget=is_over_budget,
            )
            if receipt is not None:  # histories from before receipts have null
                self.state = changes.apply_control_receipt(self.known, receipt)
            self.must_continue_as_new = self.must_continue_as_new or is_over_budget

    def _refuse_if_closing(self) -> None:
        """Refuse a change of a job that starts nothing more but its report.

        Raises:
            BadInput: the job is about to end.
        """
        self._refuse_if_ending()
        if self.state is not None and (self.state.halt is not None or self.state.closing):
            raise self._too_late()

    def _refuse_if_ending(self) -> None:
        """Refuse an update of a job that is ending.

        A job that waits for running tasks before it fails can still be cancelled.

        Raises:
            BadInput: the job ends now.
        """
        has_report = self.state is not None and self.state.has_report
        if self.is_ending or self.is_asked_to_cancel or has_report:
            raise self._too_late()

    def _too_late(self) -> BadInput:
        return BadInput(f"job {self.job_id} is about to end; try again once it has ended")

    async def _record(
        self,
        kind: ControlKind,
        by: str,
        *,
        key: str = "",
        message: str = "",
        reset_tasks: tuple[str, ...] = (),
        guidance: int | None = None,
        request: ResumeRequest | None = None,
        is_over_budget: bool = False,
    ) -> ControlReceipt | None:
        order = ControlOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            key=key or self._key(),
            kind=kind,
            by=by,
            message=message,
            reset_tasks=reset_tasks,
            guidance=guidance,
            strategy=request.strategy if request else None,
            is_over_budget=is_over_budget,
        )
        config = database_activity_config(order.key, f"{kind.value} by {by}")
        receipt = await self.run_activity(interfaces.record_control, order, config)
        if kind in (ControlKind.PAUSED, ControlKind.RESUMED):
            is_paused = kind is ControlKind.PAUSED
            status = JobStatus.PAUSED if is_paused else JobStatus.RUNNING
            workflow.upsert_search_attributes([STATUS_ATTRIBUTE.value_set(status.value)])
        return receipt

    def _key(self) -> str:
        """Return the key of this update; Temporal gives a repeated request the same id."""
        info = workflow.current_update_info()
        assert info is not None, "called by an update"
        return stored_keys.update_key(info.name, info.id)

    @asynccontextmanager
    async def _one_change_at_a_time(self) -> AsyncIterator[None]:
        """Handle one change at a time, once the job has begun; nothing new starts meanwhile."""
        self.changes_in_progress += 1
        try:
            await workflow.wait_condition(lambda: self.state is not None)
            async with self._change_lock:
                with errors_as_refusals():
                    yield
        finally:
            self.changes_in_progress -= 1
            self.has_news = True


class errors_as_refusals:  # noqa: N801 - reads as a verb where it is used
    """Turn errors into refusals of the update; any other exception would block the whole job."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HoldfastError):
            raise ApplicationError(str(error), type=type(error).__name__) from None
        if isinstance(error, Exception) and not isinstance(error, FailureError):
            raise ApplicationError(
                f"Holdfast failed with {type(error).__name__}", type=type(error).__name__
            ) from error
