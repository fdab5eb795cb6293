"""Ask Temporal what a job's workflow is running, and why the workflow cannot continue."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.models.views.status_views import PendingActivity

if TYPE_CHECKING:
    from temporalio.api.failure.v1 import Failure
    from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
    from temporalio.client import Client
    from temporalio.converter import DataConverter

_POLL_TIMEOUT = timedelta(seconds=70)
"""A worker polls its task queue at least once a minute."""
_ANSWER_TIMEOUT = timedelta(seconds=5)


@dataclass(frozen=True)
class WorkflowActivity:
    """The pending activities of a job's workflow, and the reasons why it cannot continue."""

    pending: tuple[PendingActivity, ...] = ()
    blocked_by: tuple[str, ...] = ()


async def workflow_activity(temporal: "Client", job_id: str, task_queue: str) -> WorkflowActivity:
    """The activity of the job's workflow.

    Raises:
        ServiceDown: Temporal does not answer.
    """
    from temporalio.service import RPCError, RPCStatusCode

    try:
        description, has_workers = await asyncio.gather(
            _description(temporal, job_id), _has_workers(temporal, task_queue)
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return WorkflowActivity(blocked_by=(_lost_workflow(job_id),))
        raise ServiceDown(f"Temporal does not answer: {error.message}") from error
    blocked = [] if has_workers else [_no_worker(task_queue)]
    if description.workflow_execution_info.HasField("close_time"):
        blocked.append(_lost_workflow(job_id))
    converter = temporal.data_converter
    pending = [await _pending_activity(each, converter) for each in description.pending_activities]
    return WorkflowActivity(tuple(pending), tuple(blocked))


async def _description(temporal: "Client", job_id: str) -> "DescribeWorkflowExecutionResponse":
    """Describe the workflow; once, because the client's own method asks again for ten seconds."""
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest

    return await temporal.workflow_service.describe_workflow_execution(
        DescribeWorkflowExecutionRequest(
            namespace=temporal.namespace, execution=WorkflowExecution(workflow_id=job_id)
        ),
        timeout=_ANSWER_TIMEOUT,
    )


def _no_worker(task_queue: str) -> str:
    return f"no worker polls the task queue {task_queue!r}; start one with `holdfast up`"


def _lost_workflow(job_id: str) -> str:
    return (
        f"Temporal runs no workflow of {job_id}; a worker starts it again within seconds, or "
        f"`holdfast resume {job_id}` does"
    )


async def _has_workers(temporal: "Client", task_queue: str) -> bool:
    """True if a worker has polled the task queue lately."""
    from temporalio.api.enums.v1 import TaskQueueType
    from temporalio.api.taskqueue.v1 import TaskQueue
    from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest

    answer = await temporal.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=temporal.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
        ),
        timeout=_ANSWER_TIMEOUT,
    )
    oldest = datetime.now(UTC) - _POLL_TIMEOUT
    return any(poller.last_access_time.ToDatetime(tzinfo=UTC) > oldest for poller in answer.pollers)


async def _pending_activity(
    pending: Any,  # noqa: ANN401 - Temporal's PendingActivityInfo
    converter: "DataConverter",
) -> PendingActivity:
    from temporalio.api.enums.v1 import PendingActivityState

    is_running = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
    is_new = pending.attempt <= 1
    return PendingActivity(
        what=pending.activity_id,
        state="running" if is_running else "scheduled" if is_new else "waiting",
        attempt=pending.attempt,
        since=_time(pending, "last_started_time"),
        worker=pending.last_worker_identity,
        last_sign_of_life=_time(pending, "last_heartbeat_time"),
        last_failure=(await _failure_message(pending.last_failure, converter))[:500],
        next_try_at=None if is_running else _time(pending, "scheduled_time"),
    )


async def _failure_message(failure: "Failure", converter: "DataConverter") -> str:
    """What failed, decrypted where the installation encrypts what Temporal keeps."""
    from temporalio.exceptions import FailureError

    if not failure.HasField("encoded_attributes"):
        return failure.message
    try:
        error = await converter.decode_failure(failure)
    except BadConfiguration as fault:  # a key that was taken out of the keyring too early
        return str(fault)
    return error.message if isinstance(error, FailureError) else str(error)


def _time(message: Any, name: str) -> datetime | None:  # noqa: ANN401 - a protobuf message
    if not message.HasField(name):
        return None
    moment: datetime = getattr(message, name).ToDatetime(tzinfo=UTC)
    return moment
