"""Close the workflow of an ended job in Temporal as the job ended: completed, failed or cancelled.

Temporal's list, metrics and alerts read the status of the workflow. PostgreSQL has recorded the end
before, so a workflow that cannot close changes nothing of the job.
"""

import asyncio
from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.jobs.activity_orders import CancelWorkflowOrder, JobOutcome
    from holdfast.models.jobs.job_record import JobStatus
    from holdfast.models.wire import stored_keys
    from holdfast.workflows.activity_calls import database_activity_config


async def close_workflow(outcome: JobOutcome) -> JobOutcome:
    """Return the outcome of a job that is done; it is the result of the workflow.

    Raises:
        ApplicationError: the job failed; the type is the stop reason, the details the outcome.
        asyncio.CancelledError: the job was cancelled.
    """
    if outcome.status is JobStatus.FAILED:
        raise ApplicationError(
            outcome.message or outcome.reason.value,
            outcome,
            type=outcome.reason.value,
            non_retryable=True,
        )
    if outcome.status is JobStatus.CANCELLED:
        await _wait_for_cancellation(outcome.job_id)
        raise asyncio.CancelledError
    return outcome


async def _wait_for_cancellation(job_id: str) -> None:
    """Request the cancellation of this run, unless Temporal has, and wait for it.

    Only a run with such a request can close as cancelled; users cancel with an update, which
    records their name.
    """
    if _is_cancelled():
        return
    request = workflow.start_activity(
        interfaces.cancel_workflow,
        CancelWorkflowOrder(job_id=job_id),
        **database_activity_config(stored_keys.CANCEL_ACTIVITY, "close as cancelled"),
    )
    with suppress(asyncio.CancelledError):
        await asyncio.shield(request)
        await workflow.wait_condition(_is_cancelled)
    # The cancellation arrives while the activity reports its own end.
    await request


def _is_cancelled() -> bool:
    return workflow.cancellation_reason() is not None
