"""Read the histories of a job's workflow runs for a bundle."""

from holdfast.client import Holdfast
from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.temporal.temporal_connection import connect

_MAX_RUNS = 50


async def exported_histories(
    holdfast: Holdfast, job_id: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the histories that Temporal still has as JSON, by run; and what is missing, in words.

    A bundle without them is whole in what decides a job: PostgreSQL has all of it.
    """
    from temporalio.service import RPCError, RPCStatusCode

    histories: dict[str, str] = {}
    try:
        temporal = await connect(holdfast.settings, holdfast.endpoints)
        query = f"WorkflowId = '{job_id.replace(chr(39), '')}'"
        async for run in temporal.list_workflows(query, limit=_MAX_RUNS):
            handle = temporal.get_workflow_handle(job_id, run_id=run.run_id)
            try:
                histories[run.run_id] = (await handle.fetch_history()).to_json()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
    except (ServiceDown, BadConfiguration, RPCError) as error:
        return histories, (f"the histories of Temporal, which did not answer: {error}"[:500],)
    if not histories:
        return histories, ("the histories of Temporal, which has none of this job any more",)
    return histories, ()
