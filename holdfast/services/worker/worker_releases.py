"""Say which release of the workers takes new jobs, and move jobs away from one that is gone.

A worker with HOLDFAST_RELEASE belongs to a worker deployment of Temporal, named after its task
queue. A job stays with the release that began it; new jobs go to the current one.

`python -m holdfast.services.worker.worker_releases list`, `current RELEASE`, `current --none` or
`move RELEASE`.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.api.common.v1 import WorkflowExecution as ExecutionName
from temporalio.api.enums.v1 import (
    TaskQueueType,
    VersionDrainageStatus,
    WorkerDeploymentVersionStatus,
)
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import VersioningOverride, WorkflowExecutionOptions
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    DescribeWorkerDeploymentRequest,
    DescribeWorkerDeploymentResponse,
    SetWorkerDeploymentCurrentVersionRequest,
    UpdateWorkflowExecutionOptionsRequest,
)
from temporalio.client import Client, WorkflowExecution
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig

from holdfast.models.errors import BadInput, HoldfastError, Passing
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.settings import Settings, load_settings
from holdfast.temporal.job_schedules import RUN_WORKFLOW
from holdfast.temporal.temporal_connection import connect

_LOOK_EVERY_S = 1.0
_POLL_S = 75.0
"""A worker polls again after a minute at the latest, so one that has not for so long is gone."""
_NONE_CURRENT = "new jobs begin with workers without a release; running jobs stay with theirs"
_REASON = "the job moves from release {} to the current one"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Release:
    """A release of workers, as Temporal knows it."""

    name: str
    is_current: bool
    state: str
    """`current`, `inactive`, `ramping`, `draining` (it has running jobs) or `drained`."""


def deployment_config(task_queue: str, release: str) -> WorkerDeploymentConfig:
    """Return the deployment of a worker of this release: its jobs stay with it to their end."""
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name(task_queue), release),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


def deployment_name(task_queue: str) -> str:
    """Return the name of the queue's deployment; Temporal allows no dot and no colon in it."""
    return task_queue.replace(".", "-").replace(":", "-")


async def list_releases(client: Client, task_queue: str) -> list[Release]:
    """Return the releases whose workers have polled, newest first; none before the first."""
    found = await _described(client, task_queue)
    if found is None:
        return []
    return [
        Release(
            name=each.deployment_version.build_id,
            is_current=each.deployment_version.build_id == _current(found),
            state=_state(each.status, each.drainage_status),
        )
        for each in sorted(
            found.worker_deployment_info.version_summaries,
            key=lambda version: version.create_time.ToNanoseconds(),
            reverse=True,
        )
    ]


async def make_current(client: Client, task_queue: str, release: str) -> None:
    """Let new jobs begin with this release; running jobs stay with theirs.

    Raises:
        BadInput: no worker of the release has polled yet, or not for all kinds of work.
    """
    found = await _described(client, task_queue)
    if found is None or release not in _names(found):
        raise BadInput(
            f"no worker of release {release!r} has polled queue {task_queue!r}; start one with "
            f"HOLDFAST_RELEASE={release} first"
        )
    try:
        await _set_current(client, task_queue, release, found.conflict_token)
    except RPCError as error:
        if error.status is not RPCStatusCode.FAILED_PRECONDITION:
            raise
        raise BadInput(
            f"release {release!r} cannot be current yet; try again once its worker polls for "
            f"workflows and activities: {error.message}"
        ) from error


async def make_none_current(client: Client, task_queue: str) -> bool:
    """Let new jobs begin with workers that have no release; False if no release was current."""
    found = await _described(client, task_queue)
    if found is None or not _current(found):
        return False
    await _set_current(client, task_queue, "", found.conflict_token)
    return True


async def make_first_current(client: Client, task_queue: str, release: str) -> None:
    """Make the release current if no release is: otherwise nothing would ever run.

    Waits until Temporal has heard of this worker.
    """
    while not await _has_current(client, task_queue, release):  # noqa: ASYNC110 - Temporal sends no event of it
        await asyncio.sleep(_LOOK_EVERY_S)


async def _has_current(client: Client, task_queue: str, release: str) -> bool:
    """True if a release is current, perhaps since now."""
    try:
        found = await _described(client, task_queue)
        if found is None:
            return False
        if _current(found):
            return True
        if release not in _names(found):
            return False
        await _set_current(client, task_queue, release, found.conflict_token)
    except RPCError as error:
        # Temporal is away, or another worker has changed the deployment meanwhile.
        log.info("release.not_made_current", release=release, error=error.message)
        return False
    log.info("release.made_current", release=release)
    return True


async def move_jobs(
    client: Client, task_queue: str, release: str, *, even_if_polling: bool = False
) -> list[str]:
    """End the workflows of a release that is not current; return the ids of their jobs.

    A worker of the current release starts each again from PostgreSQL within ten seconds, with the
    next epoch: finished calls are in the ledger, and are not sent again. The run of a schedule is
    not in PostgreSQL: it goes on where it is, with the current release.

    Raises:
        BadInput: the release is the current one, so its jobs would go nowhere; or its workers have
            just polled, and would go on with their calls next to those of the current release.
    """
    if any(
        each.is_current and each.name == release for each in await list_releases(client, task_queue)
    ):
        raise BadInput(f"release {release!r} is current; make another one current first")
    if not even_if_polling and (pollers := await _pollers(client, task_queue, release)):
        raise BadInput(
            f"release {release!r} has workers that polled within the last "
            f"{_POLL_S:.0f} seconds: {', '.join(pollers)}. Stop them first, or let their jobs end "
            "there. If the workers were killed, wait until Temporal has missed them, or add "
            "--even-if-polling"
        )
    version = f"{deployment_name(task_queue)}:{release}"
    query = (
        f"TaskQueue = '{task_queue}' and ExecutionStatus = 'Running' "
        f"and TemporalWorkerDeploymentVersion = '{version}'"
    )
    moved = []
    async for found in client.list_workflows(query):
        if found.workflow_type == RUN_WORKFLOW:
            with _unless_ended():
                await _follow_current(client, found)
            continue
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        with _unless_ended():
            await handle.terminate(reason=_REASON.format(release))
            moved.append(found.id)
    return moved


@contextmanager
def _unless_ended() -> Iterator[None]:
    """Let a workflow pass that has ended since it was listed."""
    try:
        yield
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


async def _follow_current(client: Client, run: WorkflowExecution) -> None:
    """Let the run of a schedule go on with the current release, now and later."""
    request = UpdateWorkflowExecutionOptionsRequest(
        namespace=client.namespace,
        workflow_execution=ExecutionName(workflow_id=run.id, run_id=run.run_id),
        workflow_execution_options=WorkflowExecutionOptions(
            versioning_override=VersioningOverride(auto_upgrade=True)
        ),
        identity=client.identity,
    )
    request.update_mask.paths.append("versioning_override")
    await client.workflow_service.update_workflow_execution_options(request)


async def _pollers(client: Client, task_queue: str, release: str) -> list[str]:
    """Return the workers of the release that have polled so lately that they may still live."""
    found = set()
    for kind in (
        TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    ):
        described = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=client.namespace,
                task_queue=TaskQueue(name=task_queue),
                task_queue_type=kind,
            )
        )
        since = datetime.now(UTC) - timedelta(seconds=_POLL_S)
        found |= {
            each.identity
            for each in described.pollers
            if each.deployment_options.build_id == release
            and each.last_access_time.ToDatetime(tzinfo=UTC) > since
        }
    return sorted(found)


async def _described(client: Client, task_queue: str) -> DescribeWorkerDeploymentResponse | None:
    """Return what Temporal knows of the queue's deployment; None if no worker has polled."""
    request = DescribeWorkerDeploymentRequest(
        namespace=client.namespace, deployment_name=deployment_name(task_queue)
    )
    try:
        return await client.workflow_service.describe_worker_deployment(request)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise


def _current(found: DescribeWorkerDeploymentResponse) -> str:
    """Return the current release; empty if new jobs begin with workers that have none."""
    return found.worker_deployment_info.routing_config.current_deployment_version.build_id


def _names(found: DescribeWorkerDeploymentResponse) -> set[str]:
    return {v.deployment_version.build_id for v in found.worker_deployment_info.version_summaries}


async def _set_current(client: Client, task_queue: str, release: str, token: bytes) -> None:
    await client.workflow_service.set_worker_deployment_current_version(
        SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace,
            deployment_name=deployment_name(task_queue),
            build_id=release,
            conflict_token=token,
            identity=client.identity,
        )
    )


def _state(status: int, drainage: int) -> str:
    if drainage == VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINED:
        return "drained"
    name = WorkerDeploymentVersionStatus.Name(status)  # type: ignore[arg-type]
    return name.removeprefix("WORKER_DEPLOYMENT_VERSION_STATUS_").lower()


async def _run(options: argparse.Namespace, settings: Settings) -> str:
    client = await connect(settings, await attach_to_services(settings))
    queue = settings.task_queue
    if options.what == "list":
        lines = [f"{each.name}  {each.state}" for each in await list_releases(client, queue)]
        return "\n".join(lines) or f"no worker with HOLDFAST_RELEASE has polled queue {queue!r}"
    if options.what == "current" and options.none:
        was_any = await make_none_current(client, queue)
        return _NONE_CURRENT if was_any else "no release was current"
    if options.what == "current":
        await make_current(client, queue, options.release)
        return f"new jobs begin with release {options.release}; running jobs stay with theirs"
    moved = await move_jobs(client, queue, options.release, even_if_polling=options.even_if_polling)
    return f"jobs that begin again with the current release: {', '.join(moved) or 'none'}"


def main(words: Sequence[str] | None = None) -> int:
    """`python -m holdfast.services.worker.worker_releases`; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m holdfast.services.worker.worker_releases")
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("list", help="the releases and their state")
    current = commands.add_parser("current", help="let new jobs begin with this release")
    which = current.add_mutually_exclusive_group(required=True)
    which.add_argument("release", nargs="?")
    which.add_argument(
        "--none", action="store_true", help="let new jobs begin with workers without a release"
    )
    move = commands.add_parser(
        "move",
        help="let the jobs of this release, whose workers are gone, go on with the current one",
    )
    move.add_argument("release")
    move.add_argument(
        "--even-if-polling",
        action="store_true",
        help="the workers were killed: do not wait until Temporal has missed them",
    )
    options = parser.parse_args(words)
    try:
        said = asyncio.run(_run(options, load_settings()))
    except HoldfastError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1 if isinstance(error, Passing) else 2
    except RPCError as error:
        sys.stderr.write(f"error: Temporal refused: {error.message}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    code = main()
    # The SDK's threads can crash an interpreter that shuts down in order.
    sys.stdout.flush()
    os._exit(code)
