"""Serve jobs as tasks of the MCP extension `io.modelcontextprotocol/tasks` (SEP-2663).

A host that declares the extension gets a task instead of the result of `research_start`. The task
is the job: its id is the job's, PostgreSQL has it before the host does, and every server of the
installation can answer for it. An open question is an input request of the task, and the report is
its result. Hosts without the extension get the plain result, and use the other tools.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver.server import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    RequestParams,
    TextContent,
)
from pydantic import Field

from holdfast.jobs.open_questions import open_questions_of
from holdfast.mcp_server.caller_access import KnownCaller, ToolCalls
from holdfast.mcp_server.commands_as_tools import in_tools
from holdfast.mcp_server.host_questions import (
    INPUT_REQUESTS_SINCE,
    can_ask,
    input_requests,
    take_answers,
)
from holdfast.mcp_server.job_states import report_parts, state_of
from holdfast.mcp_server.tool_answers import StartedResearch
from holdfast.mcp_server.tools.start_and_wait_tools import START
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import HoldfastError, NotFound
from holdfast.models.jobs.job_record import Job, JobStatus
from holdfast.storage.jobs import job_rows
from holdfast.storage.views.job_queries import events_after
from holdfast.storage.views.status_and_last_event import load_job_progress

EXTENSION = "io.modelcontextprotocol/tasks"
_VERSIONS = frozenset({INPUT_REQUESTS_SINCE})
_POLL_INTERVAL_MS = 2_000
_MAX_ID_LENGTH = 200
Request = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """Names a task."""

    task_id: str = Field(max_length=_MAX_ID_LENGTH)


class TaskUpdateParams(TaskParams):
    """Answers input requests of a task."""

    input_responses: dict[str, Any] = Field(default_factory=dict)


class JobTasks(Extension):
    """Turns started jobs into tasks for hosts that know tasks."""

    identifier = EXTENSION

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls

    def methods(self) -> Sequence[MethodBinding]:
        """The methods with which a host follows a task."""
        return [
            MethodBinding("tasks/get", TaskParams, self._get, _VERSIONS),
            MethodBinding("tasks/update", TaskUpdateParams, self._update, _VERSIONS),
            MethodBinding("tasks/cancel", TaskParams, self._cancel, _VERSIONS),
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: Request, call_next: CallNext
    ) -> HandlerResult:
        """Return the started job as a task, if the host knows tasks."""
        result = await call_next(ctx)
        if params.name != START or not _knows_tasks(ctx) or not isinstance(result, CallToolResult):
            return result
        text = result.content[0]
        if result.is_error or not isinstance(text, TextContent):
            return result
        started = StartedResearch.model_validate_json(text.text)
        async with self._calls.open(ctx, "tasks/get", Scope.ASK, started.job) as known:
            seed = await _task(known, started.job)
        return {"resultType": "task", **seed}

    async def _get(self, ctx: Request, params: TaskParams) -> HandlerResult:
        require_client_extension(ctx, EXTENSION)
        try:
            async with self._calls.open(ctx, "tasks/get", Scope.READ, params.task_id) as known:
                task = await _task(known, params.task_id)
                task |= await _payload(known, params.task_id, asks=can_ask(ctx, known))
        except NotFound as error:
            raise MCPError(INVALID_PARAMS, in_tools(str(error))) from error
        except HoldfastError as error:
            raise MCPError(INTERNAL_ERROR, in_tools(str(error))) from error
        return {"resultType": "complete", **task}

    async def _update(self, ctx: Request, params: TaskUpdateParams) -> HandlerResult:
        require_client_extension(ctx, EXTENSION)
        try:
            async with self._calls.open(ctx, "tasks/update", Scope.STEER, params.task_id) as known:
                fault = await take_answers(known, params.task_id, params.input_responses)
        except NotFound:
            # The extension wants an acknowledgement for unknown tasks too.
            return {"resultType": "complete"}
        except HoldfastError as error:
            raise MCPError(INTERNAL_ERROR, in_tools(str(error))) from error
        if fault:
            raise MCPError(INVALID_PARAMS, fault)
        return {"resultType": "complete"}

    async def _cancel(self, ctx: Request, params: TaskParams) -> HandlerResult:
        require_client_extension(ctx, EXTENSION)
        try:
            async with self._calls.open(ctx, "tasks/cancel", Scope.STEER, params.task_id) as known:
                job = await job_rows.load_job(known.holdfast.db, params.task_id)
                if not job.status.is_final:
                    await known.controller.cancel(params.task_id)
        except NotFound:
            return {"resultType": "complete"}
        except HoldfastError as error:
            raise MCPError(INTERNAL_ERROR, in_tools(str(error))) from error
        return {"resultType": "complete"}


def _knows_tasks(ctx: Request) -> bool:
    capabilities = ctx.session.client_capabilities
    extensions = (capabilities.extensions if capabilities else None) or {}
    return ctx.protocol_version in _VERSIONS and EXTENSION in extensions


async def _task(known: KnownCaller, job_id: str) -> dict[str, Any]:
    """The task without its result."""
    db = known.holdfast.db
    progress = await load_job_progress(db, job_id)
    newest = await events_after(db, job_id, max(0, progress.last_event - 1), 1)
    job = await job_rows.load_job(db, job_id)
    changed = newest[-1].at if newest else job.created_at
    return {
        "taskId": job_id,
        "status": "cancelled" if job.status is JobStatus.CANCELLED else "working",
        "statusMessage": _message(job),
        "createdAt": _timestamp(job.created_at),
        "lastUpdatedAt": _timestamp(changed),
        # Jobs stay until somebody removes them.
        "ttlMs": None,
        "pollIntervalMs": _POLL_INTERVAL_MS,
    }


async def _payload(known: KnownCaller, job_id: str, *, asks: bool) -> dict[str, Any]:
    """The task's status with what belongs to it: input requests or the result."""
    job = await job_rows.load_job(known.holdfast.db, job_id)
    if job.status is JobStatus.CANCELLED:
        return {"status": "cancelled"}
    if job.status.is_final:
        return {"status": "completed", "result": await _result(known, job)}
    questions = await open_questions_of(known.holdfast.db, job_id)
    if not (questions and asks):
        return {"status": "working"}
    requests = {
        key: form.model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, form in input_requests(questions).items()
    }
    return {"status": "input_required", "inputRequests": requests}


async def _result(known: KnownCaller, job: Job) -> dict[str, Any]:
    """What `research_start` would return, had it waited: the report, or why there is none."""
    parts = await report_parts(known.holdfast, job.id)
    text = parts[0] if parts else (await state_of(known, job.id)).model_dump_json(indent=1)
    if len(parts) > 1:
        text = f"(part 1 of {len(parts)}; research_report reads the others)\n\n{text}"
    result = CallToolResult(
        content=[TextContent(type="text", text=text)],
        is_error=not parts and job.status is JobStatus.FAILED,
    )
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def _message(job: Job) -> str:
    reason = f", {job.message}" if job.message else ""
    return f"job {job.id} is {job.status.value}{reason}"[:500]


def _timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
