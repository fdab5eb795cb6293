"""Delete the histories of a removed job's workflow runs in Temporal."""

import asyncio
from typing import TYPE_CHECKING

from holdfast.models.errors import ServiceDown

if TYPE_CHECKING:
    from temporalio.client import Client

_GONE_WITHIN_S = 60.0


async def delete_histories(temporal: "Client", job_id: str) -> list[str]:
    """Delete every run of the job's workflow, and return the ids of the runs.

    A run that Temporal no longer has is no error.

    Raises:
        ServiceDown: Temporal does not answer, or refuses.
    """
    from temporalio.service import RPCError

    try:
        runs = [run.run_id async for run in temporal.list_workflows(f"WorkflowId = '{job_id}'")]
        # The list may lack a run that has just begun.
        if (newest := await _newest_run(temporal, job_id)) and newest not in runs:
            runs.append(newest)
        for run_id in runs:
            await _delete(temporal, job_id, run_id)
    except RPCError as error:
        raise ServiceDown(
            f"Temporal kept the history of {job_id} ({error.message}); the job was not removed"
        ) from error
    return runs


async def wait_until_deleted(temporal: "Client", job_id: str) -> None:
    """Wait until Temporal has no run of the job's workflow; deletions are carried out later.

    Raises:
        ServiceDown: Temporal does not answer, or does not delete in time.
    """
    from temporalio.service import RPCError

    try:
        async with asyncio.timeout(_GONE_WITHIN_S):
            while True:
                if await _newest_run(temporal, job_id) is None:
                    return
                await asyncio.sleep(0.05)
    except TimeoutError as error:
        raise ServiceDown(
            f"Temporal still has a history of {job_id} after {_GONE_WITHIN_S:g} s; erase again"
        ) from error
    except RPCError as error:
        raise ServiceDown(f"Temporal does not answer: {error.message}") from error


async def _delete(temporal: "Client", job_id: str, run_id: str) -> None:
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
    from temporalio.service import RPCError, RPCStatusCode

    execution = WorkflowExecution(workflow_id=job_id, run_id=run_id)
    try:
        await temporal.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=temporal.namespace, workflow_execution=execution
            )
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _newest_run(temporal: "Client", job_id: str) -> str | None:
    from temporalio.service import RPCError, RPCStatusCode

    try:
        return (await temporal.get_workflow_handle(job_id).describe()).run_id
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
