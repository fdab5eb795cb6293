"""Tests for what Temporal's history contains and what it must never contain (BEY-04)."""

import base64
import json

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHistory

from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

SECRET_TEXT = "confidential passage about the lantern house"


def history_payloads(value: object) -> list[bytes]:
    """Every payload's data in a history, wherever it sits."""
    if isinstance(value, dict):
        if "data" in value and "metadata" in value:
            return [base64.b64decode(value["data"])]
        return [data for each in value.values() for data in history_payloads(each)]
    if isinstance(value, list):
        return [data for each in value for data in history_payloads(each)]
    return []


async def load_workflow_history(temporal: Client, job_id: str) -> WorkflowHistory:
    return await temporal.get_workflow_handle(job_id).fetch_history()


@pytest.mark.conformance("BEY-04")
async def test_no_document_prompt_or_secret_is_in_history_and_no_payload_is_large(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    names = [f"T{n}" for n in range(1, 41)]
    players.plan = plan(
        *(lookup_task(name, query=name) for name in names), final_task("T99", *names)
    )
    players.parts["extractor"] = extractor_script("found " * 40, 0.9)
    tools.answers = lambda argument: f"{argument} found {SECRET_TEXT} " * 400

    job = await engine.run("Who keeps it?", slots="8", max_tool_calls="100")

    assert job.status == "done", job.message
    history = await load_workflow_history(engine.temporal, job.job_id)
    text = history.to_json()
    data = history_payloads(json.loads(text))
    assert len(data) > 80
    assert max(len(each) for each in data) <= 32 * 1024
    whole = text + "".join(each.decode("utf-8", "replace") for each in data)
    for hidden in (SECRET_TEXT, "sk-test", "You plan research", "You read entities"):
        assert hidden not in whole


@pytest.mark.slow
@pytest.mark.conformance("BEY-04")
@pytest.mark.long
async def test_a_job_of_a_thousand_calls_stays_under_ten_megabytes_of_history(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """It is longer than one run may be, so it also continues as new, with nothing but its id."""
    names = [f"T{n}" for n in range(1, 500)]
    players.plan = plan(
        *(lookup_task(name, query=name) for name in names), final_task("T500", "T1")
    )
    players.parts["extractor"] = extractor_script("found", 0.9)
    tools.answers = lambda argument: f"found {argument}"

    job = await engine.run("Who?", within_s=150, slots="12", max_tool_calls="600")

    assert (job.status, job.message) == ("done", "")
    assert job.calls.model + job.calls.tool >= 1000
    runs = [run async for run in engine.temporal.list_workflows(f"WorkflowId = '{job.job_id}'")]
    histories = [
        await engine.temporal.get_workflow_handle(job.job_id, run_id=run.run_id).fetch_history()
        for run in runs
    ]
    assert len(histories) > 1
    assert sum(event.ByteSize() for each in histories for event in each.events) < 10 * 2**20
    assert tools.called == list(dict.fromkeys(tools.called)), "no finished call was made again"
    for each in histories:
        data = history_payloads(json.loads(each.to_json()))
        assert max(len(part) for part in data) <= 32 * 1024


async def test_the_timeline_reads_like_the_plan(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = (
        plan(lookup_task("T1", query="a"), final_task("T2", "T1")),
        {"a": "Ada"},
    )

    job = await engine.run("Who keeps the light?")

    history = await load_workflow_history(engine.temporal, job.job_id)
    scheduled = {
        event.activity_task_scheduled_event_attributes.activity_id: _text(
            event.user_metadata.summary
        )
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    }
    assert list(scheduled) == ["begin", "plan", "T1", "T2", "report", "end"]
    assert scheduled["T1"] == "T1 find value for T1"
    started = history.events[0]
    assert _text(started.user_metadata.summary) == "Who keeps the light?"
    described = await engine.temporal.get_workflow_handle(job.job_id).describe()
    found = {pair.key.name: pair.value for pair in described.typed_search_attributes}
    assert found["HoldfastStatus"] == "done"
    assert found["HoldfastPreset"] == "kpi-chain"
    assert await described.memo_value("report") == "Ada"


def _text(payload: Payload) -> str:
    return str(json.loads(payload.data)) if payload.data else ""
