"""Test that the events of real streams keep to what `/openapi.json` says of them."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator

from holdfast.api.application import build_application
from holdfast.models.wire.event_kinds import EventKind
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("API-01")]

OPENAPI = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
ENDS = {"response.completed", "response.failed", "response.incomplete"}


def described(path: str, method: str = "get") -> dict[str, Any]:
    content = OPENAPI["paths"][path][method]["responses"]["200"]["content"]
    events: dict[str, Any] = content["text/event-stream"]["x-events"]
    return events


def check(data: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    Draft202012Validator({**schema, "components": OPENAPI["components"]}).validate(data)


@pytest.fixture
def job_script(players: ScriptedRoles, tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))


@pytest.mark.usefixtures("job_script")
async def test_each_entry_and_the_end_of_a_log_are_as_described(engine: RunningEngine) -> None:
    job_id = (await engine.run("Who?")).job_id
    events = described("/v1/jobs/{job}/events")

    with HttpService(engine.holdfast) as serving:
        received = await serving.all_events(job_id)
        rest = await serving.all_events(job_id, last=received[1].id)

    for event in received:
        check(event.data, events[event.event])
    assert events.keys() == {kind.value for kind in EventKind} | {"end"}
    assert {each.event for each in received} >= {"job.submitted", "task.done", "end"}
    assert [each.id for each in received] == [*map(str, range(1, len(received))), ""]
    assert [each.id for each in rest] == [each.id for each in received[2:]]
    named = {
        each["name"] for each in OPENAPI["paths"]["/v1/jobs/{job}/events"]["get"]["parameters"]
    }
    assert named == {"job", "Last-Event-ID", "after"}


@pytest.mark.usefixtures("job_script")
async def test_each_event_of_a_response_is_as_described_and_its_text_is_the_report_alone(
    engine: RunningEngine,
) -> None:
    settings = engine.holdfast.settings.model_copy(update={"model": "scripted"})
    body = {"model": "holdfast-kpi-chain", "input": "Who built the pier?", "stream": True}
    events = described("/v1/responses", "post")

    with HttpService(replace(engine.holdfast, settings=settings), writes=True) as serving:
        async with asyncio.timeout(120), serving.client() as client:
            answer = await client.post("/responses", json=body, timeout=120)

    received = sent_events(answer)
    for name, data in received:
        check(data, events[name])
    assert described("/v1/responses/{response}") == events
    assert [data["sequence_number"] for _, data in received] == [*range(len(received))]
    assert received[-1][0] in ENDS
    said = {data["text"] for name, data in received if name.endswith("summary_text.done")}
    (text,) = {data["text"] for name, data in received if name == "response.output_text.done"}
    assert said
    assert [line for line in text.splitlines() if line in said] == []


def sent_events(answer: httpx2.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a whole stream, by name; comments are left out."""
    events = []
    for part in answer.text.split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in part.splitlines() if line[:1] not in ("", ":")
        )
        if fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events
