"""Reaching a job's workflow: whether it is open, asking it for something, waiting for its end."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from models.base import Frozen
from models.errors import BadInput, ServiceDown

if TYPE_CHECKING:
    from temporalio.client import Client, WorkflowHandle
    from temporalio.service import RPCError

_ANSWER_WITHIN = timedelta(seconds=15)
_CLOSES_WITHIN_S = 15.0


async def ask(
    job_id: str,
    handle: "WorkflowHandle[Any, Any]",
    update: str,
    asking: Frozen,
    answer: type[Any] | None = None,
) -> Any:  # noqa: ANN401 - what the update gives
    """The update's result, in a time that a person waits.

    Raises:
        BadInput: the workflow refused, or has just ended.
        ServiceDown: no worker answered in time.
    """
    from temporalio.client import (
        WorkflowUpdateFailedError,
        WorkflowUpdateRPCTimeoutOrCancelledError,
    )
    from temporalio.exceptions import ApplicationError
    from temporalio.service import RPCError

    try:
        return await handle.execute_update(
            update, asking, result_type=answer, rpc_timeout=_ANSWER_WITHIN
        )
    except WorkflowUpdateFailedError as error:
        cause = error.cause
        words = cause.message if isinstance(cause, ApplicationError) else str(cause)
        raise BadInput(words) from error
    except WorkflowUpdateRPCTimeoutOrCancelledError as error:
        raise ServiceDown(
            f"no worker answered within {_ANSWER_WITHIN.total_seconds():g} s, so {job_id} may "
            f"not have heard of it; check with `holdfast doctor`"
        ) from error
    except RPCError as error:
        raise _unreached(job_id, error) from error


async def stop(job_id: str, handle: "WorkflowHandle[Any, Any]") -> None:
    """Have the workflow cancelled by Temporal, as soon as a worker is there.

    Raises:
        BadInput: it has just ended.
        ServiceDown: Temporal does not answer.
    """
    from temporalio.service import RPCError

    try:
        await handle.cancel()
    except RPCError as error:
        raise _unreached(job_id, error) from error


def _unreached(job_id: str, error: "RPCError") -> BadInput | ServiceDown:
    from temporalio.service import RPCStatusCode

    if error.status is RPCStatusCode.NOT_FOUND:
        return BadInput(f"job {job_id} has just ended; look at it with `holdfast show {job_id}`")
    return ServiceDown(f"Temporal could not reach job {job_id}: {error.message}")


async def open_workflow(temporal: "Client", job_id: str) -> "WorkflowHandle[Any, Any] | None":
    """The job's workflow, if Temporal has it and it has not ended."""
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


async def until_closed(temporal: "Client", job_id: str) -> None:
    """Wait until the workflow of a job that has ended is over as well.

    Raises:
        ServiceDown: it is not over in time.
    """
    try:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            while True:
                if await open_workflow(temporal, job_id) is None:
                    return
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise ServiceDown(
            f"the workflow of {job_id} is still open in Temporal; try again once a worker runs"
        ) from error
