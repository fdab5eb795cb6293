"""Tests of jobs as tasks of the MCP extension, for hosts that declare it and hosts that do not."""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import pytest
from mcp import Client
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Request, RequestParams, Result, TextContent
from pydantic import ConfigDict

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.mcp_host import answer_of, mcp_host, text_of

pytestmark = pytest.mark.slow

EXTENSION = "io.modelcontextprotocol/tasks"
QUESTION: dict[str, Any] = {"question": "Who?", "preset": "kpi-chain", "model": "scripted"}


class CreatedTask(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    ttl_ms: int | None = None
    poll_interval_ms: int | None = None


class TaskParams(RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskRequest(Request[TaskParams, str]):
    method: str
    params: TaskParams
    name_param: ClassVar[str | None] = "taskId"


class TaskState(Result):
    model_config = ConfigDict(extra="allow")


async def _handle(created: CreatedTask, _: ClaimContext) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=created.model_dump_json())])


class TaskHost(ClientExtension):
    """A host that knows tasks, and gives the test the task itself."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=_handle)]


class NoForms:
    """A host's form, which is never shown: tasks carry the questions."""

    async def __call__(self, *_: object) -> Any:
        raise AssertionError


def task_host(serving: HttpService, **options: Any) -> Any:
    return mcp_host(serving, extensions=[TaskHost()], elicitation_callback=NoForms(), **options)


async def created_task(client: Client, **more: Any) -> CreatedTask:
    result = await client.call_tool("research_start", QUESTION | more)
    return CreatedTask.model_validate_json(text_of(result), by_name=True)


async def send(client: Client, method: str, task: str, **more: Any) -> dict[str, Any]:
    params = TaskParams(task_id=task, **more)
    answer = await client.session.send_request(TaskRequest(method=method, params=params), TaskState)
    return answer.model_dump(by_alias=True)


async def task_with(client: Client, task: str, status: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            state = await send(client, "tasks/get", task)
            if state["status"] == status:
                return state
            await asyncio.sleep(0.1)


@pytest.mark.conformance("MCP-02")
async def test_a_task_is_the_job_with_its_question_and_its_report_over_a_restart(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with task_host(serving) as client:
        created = await created_task(client, review=True)
        stored = await job_rows.load_job(engine.db, created.task_id)
        asking = await task_with(client, created.task_id, "input_required")
        serving.restart()
        ((key, request),) = asking["inputRequests"].items()
        answer = {"action": "accept", "content": {"choice": "approve"}}
        await send(client, "tasks/update", created.task_id, input_responses={key: answer})
        done = await task_with(client, created.task_id, "completed")

    assert stored.request.question == "Who?"
    assert (created.status, created.ttl_ms) == ("working", None)
    assert request["method"] == "elicitation/create"
    assert request["params"]["requestedSchema"]["required"] == ["choice"]
    assert "found a" in done["result"]["content"][0]["text"]
    assert done["result"]["isError"] is False


@pytest.mark.conformance("MCP-02")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_hosts_that_do_not_declare_tasks_get_the_plain_answer(
    mode: str, engine: RunningEngine, serving: HttpService
) -> None:
    async with mcp_host(serving, mode=mode) as client:
        started = await answer_of(client, "research_start", **QUESTION)
        with pytest.raises(MCPError):
            await send(client, "tasks/get", started["job"])

    assert started["next"] == "call research_wait"


@pytest.mark.long
async def test_a_task_is_cancelled_and_unknown_tasks_are_only_acknowledged(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with task_host(serving) as client:
        created = await created_task(client, review=True)
        await wait_for_question(engine, created.task_id, QuestionKind.APPROVAL)
        await send(client, "tasks/cancel", created.task_id)
        ended = await task_with(client, created.task_id, "cancelled")
        again = await send(client, "tasks/cancel", created.task_id)
        none = [
            await send(client, method, "job-none") for method in ("tasks/cancel", "tasks/update")
        ]
        with pytest.raises(MCPError, match="there is no job 'job-none'"):
            await send(client, "tasks/get", "job-none")

    assert "result" not in ended
    assert [each["resultType"] for each in (again, *none)] == ["complete"] * 3
    job = await job_rows.load_job(engine.db, created.task_id)
    assert job.status is JobStatus.CANCELLED


async def test_a_start_that_is_refused_makes_no_task(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with task_host(serving) as client:
        result = await client.call_tool("research_start", QUESTION | {"preset": "none"})

    assert result.is_error
    assert "none" in text_of(result)
