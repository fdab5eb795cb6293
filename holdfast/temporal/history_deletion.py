"""Delete the histories of a removed job's workflow runs in Temporal."""

from typing import TYPE_CHECKING

from holdfast.models.errors import ServiceDown

if TYPE_CHECKING:
    from temporalio.client import Client


async def delete_histories(temporal: "Client", job_id: str) -> None:
    """Delete every run of the job's workflow; a run that Temporal no longer has is no error.

    Raises:
        ServiceDown: Temporal does not answer, or refuses.
    """
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
    from temporalio.service import RPCError, RPCStatusCode

    try:
        runs = [run.run_id async for run in temporal.list_workflows(f"WorkflowId = '{job_id}'")]
        for run_id in runs:
            execution = WorkflowExecution(workflow_id=job_id, run_id=run_id)
            await temporal.workflow_service.delete_workflow_execution(
                DeleteWorkflowExecutionRequest(
                    namespace=temporal.namespace, workflow_execution=execution
                )
            )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return
        raise ServiceDown(
            f"Temporal kept the history of {job_id} ({error.message}); the job was not removed"
        ) from error
