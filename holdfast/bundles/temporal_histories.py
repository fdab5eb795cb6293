"""Read the histories of a job's workflow runs for a bundle."""

import asyncio
import json
from base64 import b64decode, b64encode
from typing import Any

from holdfast.bundles.row_redaction import RowRedaction
from holdfast.client import Holdfast
from holdfast.models.errors import BadConfiguration, ServiceDown
from holdfast.temporal.temporal_connection import connect

_MAX_RUNS = 50


async def exported_histories(
    holdfast: Holdfast, job_id: str, redaction: RowRedaction
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the histories that Temporal still has as JSON, by run; and what is missing, in words.

    A bundle without them is whole in what decides a job: PostgreSQL has all of it. They repeat
    whatever else is left out of a bundle, so a bundle that leaves something out has none.
    """
    if redaction.redacted:
        return {}, ("the histories of Temporal, which contain what was left out",)
    from temporalio.service import RPCError, RPCStatusCode

    histories: dict[str, str] = {}
    try:
        temporal = await connect(holdfast.settings, holdfast.endpoints)
        query = f"WorkflowId = '{job_id.replace(chr(39), '')}'"
        async for run in temporal.list_workflows(query, limit=_MAX_RUNS):
            handle = temporal.get_workflow_handle(job_id, run_id=run.run_id)
            try:
                history = (await handle.fetch_history()).to_json()
                histories[run.run_id] = await asyncio.to_thread(_masked, history, redaction)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
    except (ServiceDown, BadConfiguration, RPCError) as error:
        return histories, (f"the histories of Temporal, which did not answer: {error}"[:500],)
    if not histories:
        return histories, ("the histories of Temporal, which has none of this job any more",)
    return histories, ()


def _masked(history: str, redaction: RowRedaction) -> str:
    """Return the history without secrets, which payloads hide from a search: they are base64."""
    return redaction.text(json.dumps(_opened(json.loads(history), redaction), indent=2))


def _opened(value: Any, redaction: RowRedaction) -> Any:  # noqa: ANN401 - a part of a history
    if isinstance(value, list):
        return [_opened(each, redaction) for each in value]
    if not isinstance(value, dict):
        return value
    opened = {name: _opened(each, redaction) for name, each in value.items()}
    if "metadata" in value and isinstance(value.get("data"), str):
        # Bytes that are no text stay as they are: `surrogateescape` gives them back unchanged.
        content = b64decode(value["data"]).decode(errors="surrogateescape")
        masked = redaction.text(content).encode(errors="surrogateescape")
        opened["data"] = b64encode(masked).decode()
    return opened
