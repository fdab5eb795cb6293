"""Fill an installation over its API, and write what it has into the description of the API."""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.tool_figures import new_figure
from holdfast.models.calls.tool_signatures import ToolAnswer
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.models.responses.stored_response import ClientRequest
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.responses.response_rows import store_response
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

_WITHIN = timedelta(seconds=120)
_USED_UP = 2
"""How many there are of a thing that each accepted request removes or ends."""
_JOB = {"question": "Who built the pier?", "preset": "kpi-chain", "model": "scripted"}
_SCHEDULE = {"times": "daily 08:00", "ask": _JOB}
_OPEN = {
    "POST /v1/collections/{collection}/documents",
    "PUT /v1/quotas/{kind}/{subject}",
    "DELETE /v1/quotas/{kind}/{subject}",
}
"""They make what their path names, so every name may be right."""
_SCALED: Mapping[str, Sequence[Any]] = {
    "older_than": [None, "30d", "12h"],
    "down_to": [None, "20GB"],
}


@dataclass(frozen=True)
class KnownValues:
    """Values that mean something to the installation."""

    parameters: Mapping[str, Sequence[Any]]
    """By the name of a parameter."""
    of_operations: Mapping[str, Mapping[str, Sequence[Any]]]
    """The same for one operation, such as `DELETE /v1/jobs/{job}`."""
    fields: Mapping[str, Mapping[str, Sequence[Any]]]
    """By the name of a body's model and of its field; other values may be right as well."""
    examples: Mapping[str, Mapping[str, Any]]
    """A body that an operation accepts."""


async def fill(engine: RunningEngine, serving: HttpService) -> KnownValues:
    """Give the installation jobs in every state, and one or more of everything else."""
    await engine.add_document("harbour", "The pier was built by Ida Marsh in 1868.", kind="log")
    async with serving.client() as client:
        ended = [await _submitted(client) for _ in range(2 + 2 * _USED_UP)]
        waiting = [await _submitted(client, review=True) for _ in range(4 + 3 * _USED_UP)]
        asked = [await _asked(engine, job) for job in waiting]
        for job in ended:
            await engine.holdfast.wait(job, _WITHIN)
        for job in waiting[:2]:
            assert (await client.post(f"/jobs/{job}/cancel")).status_code == 202
            await engine.holdfast.wait(job, _WITHIN)
        cancelled, shown, answered = waiting[:2], waiting[2], waiting[3]
        waiting = waiting[4:]
        keys = [await _key(client) for _ in range(2 * _USED_UP)]
        hooks = [await _webhook(client) for _ in range(1 + _USED_UP)]
        responses = [await _response(client) for _ in range(1 + _USED_UP)]
        for job in waiting[-_USED_UP:]:
            await store_response(engine.db, job, job, 0, ClientRequest(model="holdfast", input=[]))
        schedules = [await _schedule(client) for _ in range(1 + _USED_UP)]
        upload = await _upload(client)
        report = (await client.get(f"/jobs/{ended[0]}/report")).json()
        sources = [each["source_id"] for each in report["citations"]]
    kept = [*ended[:2], shown]
    return KnownValues(
        parameters={
            "job": kept,
            "other": kept,
            "key": keys[:_USED_UP],
            "webhook": hooks[:1],
            "response": responses[:1],
            "schedule": schedules[:1],
            "upload": [upload],
            "collection": ["harbour"],
            "model": ["holdfast", "holdfast-research"],
            "mark": [1],
            "source": sources,
            "question": asked[3:4],
            "sha256": [await _figure(engine, cancelled[0])],
            "subject": ["maria"],
            "status": [None, "done", "running"],
            "preset": [None, "kpi-chain"],
            "after": [ended[1], ended[0]],
        },
        of_operations={
            "GET /v1/jobs/{job}/log": {"after": [0, 1, 2]},
            "GET /v1/jobs/{job}/report": {"job": ended[:2]},
            "DELETE /v1/jobs/{job}": {"job": ended[2 : 2 + _USED_UP]},
            "DELETE /v1/keys/{key}": {"key": keys[_USED_UP:]},
            "DELETE /v1/schedules/{schedule}": {"schedule": schedules[1:]},
            "DELETE /v1/webhooks/{webhook}": {"webhook": hooks[1:]},
            "DELETE /v1/responses/{response}": {"response": responses[1:]},
            "POST /v1/responses/{response}/cancel": {"response": waiting[-_USED_UP:]},
            "GET /v1/jobs/{job}/figures/{sha256}": {"job": cancelled[:1]},
            "POST /v1/jobs/{job}/questions/{question}": {"job": [answered]},
            "POST /v1/jobs/{job}/cancel": {"job": waiting[:_USED_UP]},
            "POST /v1/jobs/{job}/pause": {"job": waiting[_USED_UP:-_USED_UP]},
            "POST /v1/jobs/{job}/resume": {"job": waiting[_USED_UP:-_USED_UP]},
            "POST /v1/jobs/{job}/steer": {"job": waiting[_USED_UP:-_USED_UP]},
            "POST /v1/jobs/{job}/partial-report": {"job": cancelled[1:]},
            "POST /v1/jobs/{job}/update": {"job": ended[:2]},
        },
        fields={
            "JobSubmission": {
                "preset": [None, "kpi-chain"],
                "model": [None, "scripted"],
                "collection": [None, "harbour"],
                "follows": [None, *ended[:2]],
                "servers": [None, ["lab"]],
                "settings": [{}, {"max_tool_calls": 20}],
            },
            "ForkSubmission": {
                "tasks": [[], ["T1"], ["T2"]],
                "preset": [None],
                "model": [None, "scripted"],
                "settings": [{}, {"max_tool_calls": 20}],
                "questions": [{}, {"T1": "find the year"}],
                "plan": [None],
                "retract": [[], [1]],
            },
            "RetryBody": {"tasks": [["T1"], ["T2"], ["T2", "T1"]]},
            "ResumeBody": {"settings": [{}, {"max_tool_calls": 20}]},
            "UpdateBody": _SCALED,
            "PruneBody": _SCALED,
            "RetractionBody": {"evidence": [each["evidence_id"] for each in report["citations"]]},
            "AnswerBody": {"choice": ["approve", ""], "text": ["", "because"]},
            "ErasureBody": {"job": [None, *ended[2 + _USED_UP :]], "owner": [None, "nobody"]},
            "NewWebhookBody": {
                "url": ["https://example.org/hook"],
                "job": [None, ended[0]],
            },
            "NewKeyBody": {"name": ["laptop"], "owner": ["maria"]},
            "SearchBody": {"query": ["pier", "who built it?"], "where": [{}, {"kind": "log"}]},
        },
        examples={
            "POST /v1/jobs/{job}/fork": {"tasks": ["T1"]},
            "POST /v1/jobs/{job}/questions/{question}": {"choice": "approve"},
            "POST /v1/keys": {"name": "laptop", "owner": "maria"},
            "POST /v1/webhooks": {"url": "https://example.org/hook"},
            "POST /v1/prune": {"older_than": "30d"},
            "POST /v1/schedules": _SCHEDULE,
            "POST /v1/erasures": {"job": ended[2 + _USED_UP]},
        },
    )


def with_known_values(description: Mapping[str, Any], known: KnownValues) -> dict[str, Any]:
    """Return the description with the installation's own values as the right ones."""
    described: dict[str, Any] = copy.deepcopy(dict(description))
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            if example := known.examples.get(name):
                operation["requestBody"]["content"]["application/json"]["example"] = example
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _known_schema(name, parameter, known)
    for model, fields in known.fields.items():
        properties = described["components"]["schemas"][model]["properties"]
        for name, values in fields.items():
            if name in properties:
                properties[name] = {"anyOf": [{"enum": [*values]}, properties[name]]}
    return described


def _known_schema(
    operation: str, parameter: Mapping[str, Any], known: KnownValues
) -> Mapping[str, Any]:
    name, schema = parameter["name"], parameter["schema"]
    usual = () if "enum" in schema else known.parameters.get(name, ())
    values = known.of_operations.get(operation, {}).get(name, usual)
    if not values:
        described: Mapping[str, Any] = schema
        return described
    right = {"enum": [*values]}
    return {"anyOf": [right, schema]} if operation in _OPEN else right


async def _figure(engine: RunningEngine, job_id: str) -> str:
    """The hash of a figure that a tool has given to the job."""
    figure = new_figure("image/png", b"\x89PNG\r\n\x1a\n", title="plot")
    ledger = CallLedger(engine.db)
    key = CallKey(job_id=job_id, task_id="T1", request_hash="h")
    opened = await ledger.open_tool_call(key, "lab.plot", {})
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="x", figures=(figure,)))
    return figure.sha256


async def _submitted(client: httpx2.AsyncClient, **more: Any) -> str:
    answer = await client.post("/jobs", json=_JOB | more)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


async def _asked(engine: RunningEngine, job_id: str) -> int:
    return (await wait_for_question(engine, job_id, QuestionKind.APPROVAL)).id


async def _key(client: httpx2.AsyncClient) -> str:
    answer = await client.post("/keys", json={"name": "laptop", "owner": "maria"})
    key_id: str = answer.json()["details"]["id"]
    return key_id


async def _webhook(client: httpx2.AsyncClient) -> str:
    answer = await client.post("/webhooks", json={"url": "https://example.org/hook"})
    webhook_id: str = answer.json()["details"]["id"]
    return webhook_id


async def _schedule(client: httpx2.AsyncClient) -> str:
    answer = await client.post("/schedules", json=_SCHEDULE)
    assert answer.status_code == 201, answer.text
    schedule_id: str = answer.json()["id"]
    return schedule_id


async def _response(client: httpx2.AsyncClient) -> str:
    body = {"model": "holdfast-kpi-chain", "input": "Who built the pier?", "background": True}
    response_id: str = (await client.post("/responses", json=body)).json()["id"]
    return response_id


async def _upload(client: httpx2.AsyncClient) -> str:
    files = {"files": ("pier.md", b"The pier is long.")}
    answer = await client.post("/collections/harbour/documents", files=files)
    upload_id: str = answer.json()["id"]
    async with asyncio.timeout(_WITHIN.total_seconds()):
        while (await client.get(f"/uploads/{upload_id}")).json()["finished_at"] is None:
            await asyncio.sleep(0.1)
    return upload_id
