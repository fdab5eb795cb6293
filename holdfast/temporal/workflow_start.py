"""Start the workflow of a job, with the attributes that the Temporal UI shows."""

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.models.errors import ServiceDown
from holdfast.models.jobs.activity_orders import JobOrder
from holdfast.models.jobs.job_record import JobRequest, JobStatus
from holdfast.models.text.terminal_text import shorten_text

if TYPE_CHECKING:
    from temporalio.client import Client

_WORKFLOW_TASK_TIMEOUT = timedelta(seconds=3)
"""Another worker repeats the decision of a killed worker after this time; the replay of the longest
run takes a second. The server's default is 10 s."""
_MAX_FAIRNESS_KEY = 64
"""The bytes that Temporal takes."""
_MAX_QUESTION = 240
"""The characters of a question that the Temporal UI lists."""


async def start_workflow(
    temporal: "Client",
    task_queue: str,
    job_id: str,
    request: JobRequest,
    *,
    delay: timedelta | None = None,
) -> None:
    """Start the job's workflow, unless it is running.

    Raises:
        ServiceDown: Temporal refused.
    """
    from temporalio.common import (
        Priority,
        SearchAttributePair,
        TypedSearchAttributes,
        WorkflowIDConflictPolicy,
        WorkflowIDReusePolicy,
    )
    from temporalio.service import RPCError

    from holdfast.workflows.temporal_display import (
        OWNER_ATTRIBUTE,
        PRESET_ATTRIBUTE,
        QUESTION_ATTRIBUTE,
        STATUS_ATTRIBUTE,
    )

    question = " ".join(request.question.split())
    pairs = [
        SearchAttributePair(STATUS_ATTRIBUTE, JobStatus.QUEUED.value),
        SearchAttributePair(PRESET_ATTRIBUTE, request.preset),
    ]
    if temporal.data_converter.payload_codec is None:
        # Search attributes are never encoded; a codec is there so that Temporal reads no question.
        pairs.append(SearchAttributePair(QUESTION_ATTRIBUTE, shorten_text(question, _MAX_QUESTION)))
    if request.owner:
        pairs.append(SearchAttributePair(OWNER_ATTRIBUTE, request.owner))
    try:
        await temporal.start_workflow(
            "research_job",
            JobOrder(job_id=job_id),
            id=job_id,
            task_queue=task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            # Only PostgreSQL knows whether work is left: a run of a job that has ended changes
            # nothing.
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_delay=delay,
            task_timeout=_WORKFLOW_TASK_TIMEOUT,
            # Tasks that wait take turns by owner, so the jobs of one owner do not delay another's.
            priority=Priority(fairness_key=_fairness_key(request.owner)),
            static_summary=question[:180],
            static_details=_details(job_id, request),
            memo={"preset": request.preset, "model": request.model},
            search_attributes=TypedSearchAttributes(pairs),
        )
    except RPCError as error:
        raise ServiceDown(
            f"job {job_id} is stored, but Temporal did not start it ({error.message}); a "
            "worker starts it once Temporal answers"
        ) from error


def _fairness_key(owner: str) -> str | None:
    """The owner as a key of at most 64 bytes; None without an owner."""
    if len(owner.encode()) > _MAX_FAIRNESS_KEY:
        return hashlib.sha256(owner.encode()).hexdigest()
    return owner or None


def _details(job_id: str, request: JobRequest) -> str:
    """The details of the job in the Temporal UI, as Markdown."""
    owner = f" for {request.owner}" if request.owner else ""
    work = f"preset `{request.preset}`, model `{request.model}`{owner}"
    return f"{work}\n\n`holdfast show {job_id}` has the findings, the calls and the cost."
