"""How a person reaches a running job: updates that refuse what cannot be done before it is history.

Each change is recorded in PostgreSQL with who asked, then made in the workflow's state: what could
not be recorded has not happened. Meanwhile nothing new starts, so what was checked stays true.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities import interfaces
    from models.control import (
        Asking,
        Control,
        Rerun,
        ResumeRequest,
        RetryRequest,
        SteerRequest,
    )
    from models.errors import BadInput, HoldfastError
    from models.jobs import JobStatus
    from models.orders import ControlOrder, RetryOrder
    from models.state import JobState
    from planning import state as changes
    from planning.rerun import retried
    from workflows.calling import bookkeeping
    from workflows.display import STATUS

OWN = "holdfast"
"""Who pauses a job that cannot go on by itself."""


class Controls:
    """The part of a job's workflow that listens; the rest of it works the job."""

    def __init__(self) -> None:
        self.job_id = ""
        self.epoch = 0
        self.state: JobState | None = None
        self.has_news = False
        self.is_ending = False
        self.is_asked_to_cancel = False
        self.must_roll = False
        """Whether PostgreSQL was changed in a way that a fresh run is to read."""
        self.changing = 0
        self._turn = asyncio.Lock()
        self._own_pauses = 0

    @property
    def known(self) -> JobState:
        """The state, once the job has begun."""
        assert self.state is not None, "the job has begun"
        return self.state

    @workflow.update
    async def pause(self, request: Asking) -> None:
        """Start nothing more; what runs comes to its end."""
        async with self._in_turn():
            self._may_pause()
            await self._record(Control.PAUSED, request.by)
            self.state = changes.paused(self.known)

    @pause.validator
    def _check_pause(self, request: Asking) -> None:  # noqa: ARG002 - the update's shape
        with refusing():
            self._may_pause()

    def _may_pause(self) -> None:
        self._takes_changes()
        if self.state is not None and self.state.is_paused:
            raise BadInput(f"job {self.job_id} is paused already")

    @workflow.update
    async def resume(self, request: ResumeRequest) -> None:
        """Go on, with other settings where they are given."""
        async with self._in_turn():
            self._may_resume()
            await self._record(Control.RESUMED, request.by, request=request)
            self.state = changes.paused(self.known, is_paused=False)
            self.must_roll = self.must_roll or request.strategy is not None

    @resume.validator
    def _check_resume(self, request: ResumeRequest) -> None:  # noqa: ARG002 - the update's shape
        with refusing():
            self._may_resume()

    def _may_resume(self) -> None:
        self._goes_on()
        if self.state is not None and not self.state.is_paused:
            raise BadInput(f"job {self.job_id} is not paused")

    @workflow.update
    async def retry(self, request: RetryRequest) -> Rerun:
        """Run tasks again with what rests on them; gives what runs again and what is kept."""
        async with self._in_turn():
            chosen = self._may_retry(request)
            order = RetryOrder(
                job_id=self.job_id,
                epoch=self.epoch,
                key=self._key(),
                by=request.by,
                tasks=request.tasks,
                again=chosen.again,
            )
            config = bookkeeping(order.key, f"run again: {', '.join(request.tasks)}"[:200])
            await workflow.execute_activity(interfaces.retry_tasks, order, **config)
            self.must_roll = True
            return chosen

    @retry.validator
    def _check_retry(self, request: RetryRequest) -> None:
        with refusing():
            if self.state is not None:
                self._may_retry(request)

    def _may_retry(self, request: RetryRequest) -> Rerun:
        self._takes_changes()
        if self.known.is_planning or self.known.replanning:
            raise BadInput(f"the plan of {self.job_id} is being changed; retry in a moment")
        if self.known.is_reporting:
            raise BadInput(f"the report of {self.job_id} is being written; retry once it has ended")
        return retried(self.known, request.tasks)

    @workflow.update
    async def steer(self, request: SteerRequest) -> None:
        """Let the next planning see what a person has to say."""
        async with self._in_turn():
            self._takes_changes()
            await self._record(Control.STEERED, request.by, guidance=request.guidance)

    @steer.validator
    def _check_steer(self, request: SteerRequest) -> None:  # noqa: ARG002 - the update's shape
        with refusing():
            self._takes_changes()

    @workflow.update
    async def cancel(self, request: Asking) -> None:
        """Stop the calls in flight and end the job; what it found is kept."""
        async with self._in_turn():
            self._goes_on()
            await self._record(Control.CANCELLING, request.by)
            self.is_asked_to_cancel = True

    @cancel.validator
    def _check_cancel(self, request: Asking) -> None:  # noqa: ARG002 - the update's shape
        with refusing():
            self._goes_on()

    async def pause_by_itself(
        self, why: str, put_back: tuple[str, ...], *, is_over_budget: bool = False
    ) -> None:
        """Pause because going on would only fail, and say so; the caller has taken its work back.

        Set before anything is awaited, so that the work is not started again in between. At the
        job's cap a question is asked, which a fresh run reads from PostgreSQL.
        """
        self.state = changes.paused(self.known)
        async with self._in_turn():
            self._own_pauses += 1
            self.state = changes.paused(self.known)
            key = f"paused-{self._own_pauses}@{self.epoch}"
            await self._record(
                Control.PAUSED,
                OWN,
                key=key,
                message=why,
                put_back=put_back,
                is_over_budget=is_over_budget,
            )
            self.must_roll = self.must_roll or is_over_budget

    def _takes_changes(self) -> None:
        """Refuse what would change a job that starts nothing more but its report.

        Raises:
            BadInput: the job is about to end.
        """
        self._goes_on()
        if self.state is not None and (self.state.halt is not None or self.state.closing):
            raise self._too_late()

    def _goes_on(self) -> None:
        """Refuse whatever comes too late.

        A job that waits for what runs before it fails can still be cancelled.

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
        kind: Control,
        by: str,
        *,
        key: str = "",
        message: str = "",
        put_back: tuple[str, ...] = (),
        guidance: int | None = None,
        request: ResumeRequest | None = None,
        is_over_budget: bool = False,
    ) -> None:
        order = ControlOrder(
            job_id=self.job_id,
            epoch=self.epoch,
            key=key or self._key(),
            kind=kind,
            by=by,
            message=message,
            put_back=put_back,
            guidance=guidance,
            strategy=request.strategy if request else None,
            is_over_budget=is_over_budget,
        )
        config = bookkeeping(order.key, f"{kind.value} by {by}")
        await workflow.execute_activity(interfaces.record_control, order, **config)
        if kind in (Control.PAUSED, Control.RESUMED):
            is_paused = kind is Control.PAUSED
            status = JobStatus.PAUSED if is_paused else JobStatus.RUNNING
            workflow.upsert_search_attributes([STATUS.value_set(status.value)])

    def _key(self) -> str:
        """What this update is known by: Temporal gives a repeated request the same id."""
        info = workflow.current_update_info()
        assert info is not None, "called by an update"
        return f"{info.name}-{info.id}"

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """One change after the other, once the job has begun; nothing new starts meanwhile."""
        self.changing += 1
        try:
            await workflow.wait_condition(lambda: self.state is not None)
            async with self._turn:
                with refusing():
                    yield
        finally:
            self.changing -= 1
            self.has_news = True


class refusing:  # noqa: N801 - reads as a verb where it is used
    """Turns errors into refusals of the update: any other exception would freeze the whole job."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HoldfastError):
            raise ApplicationError(str(error), type=type(error).__name__) from None
        if isinstance(error, Exception) and not isinstance(error, FailureError):
            raise ApplicationError(
                f"Holdfast failed with {type(error).__name__}", type=type(error).__name__
            ) from error
