"""Describe where a job that does not end stands in PostgreSQL and in Temporal."""

import asyncio
from collections.abc import Iterable

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from holdfast.models.errors import HoldfastError
from holdfast.services.service_lifecycle import attach_to_services
from holdfast.temporal.temporal_connection import connect
from tests.durability.chaos.chaos_installation import ChaosInstallation

_CLOSES_WITHIN_S = 30.0
_LOOK_AGAIN_S = 0.1

_STANDING = """
select status, stop_reason, message,
    (select string_agg(id || ' ' || status, ', ' order by position) from tasks
     where job_id = jobs.id and status in ('pending', 'running')) as open,
    (select kind || ' ' || task_id from events where job_id = jobs.id
     order by seq desc limit 1) as last
from jobs where id = %s
"""


async def describe_job(installation: ChaosInstallation, job_id: str) -> str:
    """What PostgreSQL and Temporal say of the job now; of no use but to be read."""
    try:
        async with installation.books() as books:
            row = await (await books.execute(_STANDING, [job_id])).fetchone()
        endpoints = await attach_to_services(installation.settings)
        client = await connect(installation.settings, endpoints)
        return f"{job_id}: {row}; Temporal: {await _in_temporal(client, job_id)}"
    except HoldfastError as error:
        return f"{job_id}: cannot be looked at: {error}"


async def find_open_workflows(installation: ChaosInstallation, job_ids: Iterable[str]) -> list[str]:
    """Jobs whose workflow does not come to its end, though PostgreSQL says that they ended."""
    client = await connect(installation.settings, await attach_to_services(installation.settings))
    left = []
    for job_id in job_ids:
        try:
            async with asyncio.timeout(_CLOSES_WITHIN_S):
                while await _is_open(client, job_id):
                    await asyncio.sleep(_LOOK_AGAIN_S)
        except TimeoutError:
            left.append(f"{job_id}: {await _in_temporal(client, job_id)}")
    return left


async def _is_open(client: Client, job_id: str) -> bool:
    try:
        described = await client.get_workflow_handle(job_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False  # a restored backup begins with an empty Temporal
        raise
    return described.status is WorkflowExecutionStatus.RUNNING


async def _in_temporal(client: Client, job_id: str) -> str:
    try:
        described = await client.get_workflow_handle(job_id).describe()
    except RPCError as error:
        return error.message
    pending = [
        f"{each.activity_id} attempt {each.attempt}: {each.last_failure.message or 'no failure'}"
        for each in described.raw_description.pending_activities
    ]
    status = described.status.name if described.status else "unknown"
    return f"{status}, pending: {'; '.join(pending) or 'no activity'}"
