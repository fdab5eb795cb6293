"""Tests that problem documents name requests where the command line names commands."""

import re

import pytest

from holdfast.api.application import build_application
from holdfast.api.commands_as_requests import REQUESTS, in_requests
from holdfast.models.questions.user_questions import QuestionKind
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.named_commands import named_commands
from tests.support.services.http_service import HttpService

OF_THE_OPERATOR = {
    f"`holdfast {name}`" for name in ("corpus", "corpus add", "down", "open", "serve", "up")
}
"""Commands that no request can replace: they start, stop and fill the installation itself."""


def test_a_command_with_its_values_becomes_the_request_with_them() -> None:
    told = in_requests(
        "wait with `holdfast wait job-1`, see `holdfast trace job-1 MARK` or `holdfast list`; "
        "`holdfast report job-1 --partial`, `holdfast retry job-1 T3`, `holdfast up`"
    )

    assert told == (
        "wait with `GET /v1/jobs/job-1/wait`, see `GET /v1/jobs/job-1/provenance/MARK` or "
        "`GET /v1/jobs`; `POST /v1/jobs/job-1/partial-report`, "
        '`POST /v1/jobs/job-1/retry` with `{"tasks": ["T3"]}`, `holdfast up`'
    )


def test_each_request_is_one_of_the_api() -> None:
    description = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
    routes = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in description["paths"].items()
        for method in methods
    }

    named = {
        tuple(re.sub(r"<[A-Z]+>", "{}", request.partition("`")[0]).split(" ", 1))
        for request in REQUESTS.values()
    }

    assert named <= routes, named - routes


def test_each_command_that_an_error_names_has_its_request() -> None:
    named = named_commands()

    assert named, "the search finds no command"
    unanswered = {command for command in named if in_requests(command) == command}
    assert unanswered <= OF_THE_OPERATOR


@pytest.mark.slow
async def test_a_refusal_names_the_request_that_helps(idle_engine: RunningEngine) -> None:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        async with serving.client() as client:
            job = (await client.post("/jobs", json={"question": "Who?"})).json()["job_id"]
            answers = [
                await client.delete(f"/jobs/{job}"),
                await client.get(f"/jobs/{job}/report"),
                await client.get(f"/jobs/{job}/bundle"),
                await client.post(f"/jobs/{job}/questions/7", json={"text": "yes"}),
                await client.delete("/webhooks/none"),
                await client.delete("/keys/none"),
            ]
        without = await client_without_key(serving)

    details = [answer.json()["detail"] for answer in answers]
    assert [answer.status_code for answer in answers] == [400, 404, 400, 404, 404, 404]
    assert not any("holdfast " in detail for detail in details), details
    assert [re.findall(r"`([A-Z]+ \S+)`", detail) for detail in details] == [
        [f"POST /v1/jobs/{job}/cancel"],
        [f"GET /v1/jobs/{job}/wait"],
        [f"GET /v1/jobs/{job}/wait"],
        [f"GET /v1/jobs/{job}/questions"],
        ["GET /v1/webhooks"],
        ["GET /v1/keys"],
    ]
    assert "POST /v1/keys" in without


@pytest.mark.slow
async def test_the_status_of_a_job_names_the_request_that_helps(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = plan(final_task("T1"))
    job = await engine.submit("Who?", review=True)
    question = await wait_for_question(engine, job, QuestionKind.APPROVAL)
    planned = (await engine.run("Who?", plan_only=True)).job_id
    with HttpService(engine.holdfast) as serving:
        status = (await serving.get(f"/jobs/{job}/status")).json()
        (waiting,) = (await serving.get(f"/jobs/{job}/questions/open")).json()
        ended = [
            (await serving.get(f"/jobs/{planned}{part}")).text
            for part in ("", "/status", "/wait", "/log", "/events")
        ]
        ways_on = (await serving.get(f"/jobs/{planned}/status")).json()["blocked_by"]

    request = f"POST /v1/jobs/{job}/questions/{question.id}"
    assert status["questions"][0]["answer_with"] == waiting["answer_with"] == request
    assert f"give it with `{request}`" in status["blocked_by"][0]
    assert all("only planned, as requested" in text for text in ended), ended
    assert not any("`holdfast " in text for text in ended), ended
    assert ways_on == [f"the job was only planned; `POST /v1/jobs/{planned}/resume` runs the plan"]


async def client_without_key(serving: HttpService) -> str:
    async with serving.client() as client:
        answer = await client.get("/jobs", headers={"Authorization": ""})
    assert answer.status_code == 401
    return str(answer.json()["detail"])
