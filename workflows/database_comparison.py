"""Pass what a job's run has seen to each activity, and notice that PostgreSQL lacks it.

PostgreSQL that was restored from a backup has none of the work after the backup, while the run
knows of it. Such a run applies no more receipts: it cancels its activities and continues as a new
run, which reads everything from PostgreSQL (`models/jobs/event_mark.py` says how this is noticed).
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.errors import StateBehind
    from holdfast.models.jobs.activity_orders import RunOrder
    from holdfast.models.jobs.event_mark import EventMark, Receipt
    from holdfast.models.wire import stored_keys
    from holdfast.workflows.activity_calls import database_activity_config

OrderT = TypeVar("OrderT", bound=RunOrder)
ResultT = TypeVar("ResultT")


class DatabaseRestored(ApplicationError):
    """PostgreSQL was restored from a backup, so this run must continue as a new run."""

    def __init__(self, job_id: str) -> None:
        super().__init__(
            f"PostgreSQL was restored from a backup; job {job_id} begins again from PostgreSQL, "
            "try again in a moment",
            type=StateBehind.__name__,
        )


class DatabaseComparison:
    """The part of a job's workflow that runs activities and compares PostgreSQL with the run."""

    def __init__(self) -> None:
        self.job_id = ""
        self.epoch = 0
        self.has_news = False
        self.unexpected_error: BaseException | None = None
        """The error that ends this run: a failed activity, or a bug."""
        self._seen: EventMark | None = None
        self._comparisons = 0

    async def run_activity(
        self,
        stub: Callable[[OrderT], Awaitable[ResultT]],
        order: OrderT,
        config: ActivityConfig,
    ) -> ResultT:
        """Run an activity of this run, and note what its receipt shows.

        Raises:
            ActivityError: the activity failed for good.
            DatabaseRestored: PostgreSQL lacks what this run has seen.
        """
        try:
            result = await workflow.execute_activity(
                stub, order.model_copy(update={"seen": self._seen}), **config
            )
        except ActivityError as error:
            if not _is_state_behind(error):
                raise
            self.unexpected_error = DatabaseRestored(self.job_id)
            self.has_news = True
            raise self.unexpected_error from error
        if isinstance(result, Receipt):
            self.note(result)
        return result

    def note(self, receipt: Receipt) -> None:
        """Note what the receipt shows of the job's log."""
        seen = receipt.seen
        if seen is not None and (self._seen is None or seen.number > self._seen.number):
            self._seen = seen

    @workflow.signal
    async def compare(self) -> None:
        """Compare PostgreSQL with this run; a run that waits for a person starts no activity."""
        if not self.epoch:
            return
        self._comparisons += 1
        activity_id = stored_keys.comparison_activity(self._comparisons)
        order = RunOrder(job_id=self.job_id, epoch=self.epoch)
        config = database_activity_config(activity_id, "compare PostgreSQL with this run")
        try:
            await self.run_activity(interfaces.compare_state, order, config)
        except (ActivityError, DatabaseRestored):
            # An error in a signal would fail the workflow; the run begins again by itself.
            return


def _is_state_behind(error: ActivityError) -> bool:
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == StateBehind.__name__
