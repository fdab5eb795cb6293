"""Find the open workflow of a job, send updates to the workflow, cancel it, await its end."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.frozen_model import Frozen

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle
    from temporalio.service import RPCError

_ANSWER_TIMEOUT = timedelta(seconds=15)
_CLOSE_TIMEOUT_S = 15.0


async def send_update(
    job_id: str,
    handle: "WorkflowHandle[Any, Any]",
    update: str,
    asking: Frozen,
    answer: type[Any] | None = None,
) -> Any:  # noqa: ANN401 - the result of the update
    """Send the update and return its result, within the time that a person waits.

    Raises:
        BadInput: the workflow refused the update, or has just ended.
        ServiceDown: no worker answered in time.
    """
    from temporalio.client import (
        WorkflowUpdateFailedError,
        WorkflowUpdateRPCTimeoutOrCancelledError,
    )
    from temporalio.exceptions import ApplicationError
    from temporalio.service import RPCError

    try:
        # Not `rpc_timeout`: the client sends the request again and again, each within that time.
        async with asyncio.timeout(_ANSWER_TIMEOUT.total_seconds()):
            return await handle.execute_update(update, asking, result_type=answer)
    except WorkflowUpdateFailedError as error:
        cause = error.cause
        words = cause.message if isinstance(cause, ApplicationError) else str(cause)
        raise BadInput(words) from error
    except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError) as error:
        raise ServiceDown(
            f"no worker answered within {_ANSWER_TIMEOUT.total_seconds():g} s, so {job_id} may "
            f"not have received the request. Start a worker with `holdfast up`, then "
            f"`holdfast status {job_id}` shows whether the request arrived"
        ) from error
    except RPCError as error:
        raise _delivery_error(job_id, error) from error


async def cancel_workflow(job_id: str, handle: "WorkflowHandle[Any, Any]") -> None:
    """Ask Temporal to cancel the workflow, which happens as soon as a worker runs.

    Raises:
        BadInput: the workflow has just ended.
        ServiceDown: Temporal does not answer.
    """
    from temporalio.service import RPCError

    try:
        await handle.cancel()
    except RPCError as error:
        raise _delivery_error(job_id, error) from error


def _delivery_error(job_id: str, error: "RPCError") -> BadInput | ServiceDown:
    from temporalio.service import RPCStatusCode

    if error.status is RPCStatusCode.NOT_FOUND:
        return BadInput(f"job {job_id} has just ended; `holdfast show {job_id}` shows how")
    return ServiceDown(f"Temporal could not reach job {job_id}: {error.message}")


async def find_open_workflow(temporal: "Client", job_id: str) -> "WorkflowHandle[Any, Any] | None":
    """Return the open workflow of the job, or None if Temporal has none."""
    from temporalio.client import WorkflowExecutionStatus
    from temporalio.service import RPCError, RPCStatusCode

    handle = temporal.get_workflow_handle(job_id)
    try:
        described = await handle.describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise ServiceDown(f"Temporal does not answer: {error.message}") from error
    return handle if described.status is WorkflowExecutionStatus.RUNNING else None


async def open_workflow_ids(temporal: "Client", task_queue: str) -> set[str]:
    """Return the ids of the jobs whose workflows are open on the task queue.

    The list may lack a workflow that has just started.
    """
    # Runs of schedules are on the same task queue.
    query = (
        f"WorkflowType = 'research_job' and TaskQueue = '{task_queue}' "
        "and ExecutionStatus = 'Running'"
    )
    return {workflow.id async for workflow in temporal.list_workflows(query)}


async def wait_until_closed(temporal: "Client", job_id: str) -> None:
    """Wait until the workflow of an ended job has ended too.

    Raises:
        ServiceDown: the workflow does not end in time.
    """
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            while True:
                if await find_open_workflow(temporal, job_id) is None:
                    return
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise ServiceDown(
            f"the workflow of {job_id} is still open in Temporal; try again once a worker runs"
        ) from error
