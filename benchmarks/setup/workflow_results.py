"""Wait for the result of a workflow on a machine that is too busy to answer each request."""

from typing import Any

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

_BUSY = frozenset({RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.UNAVAILABLE})


async def workflow_result(handle: WorkflowHandle[Any, Any]) -> Any:  # noqa: ANN401 - of any workflow
    """Return what the workflow returns, however often the busy server gives up on the request.

    Raises:
        WorkflowFailureError: the workflow failed.
    """
    while True:
        try:
            return await handle.result()
        except RPCError as error:
            if error.status not in _BUSY:
                raise
