"""Tests for submitting jobs over HTTP: once for each key, with faults named by field."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs import job_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION: dict[str, Any] = {"question": "Who?", "preset": "kpi-chain", "model": "scripted"}


@pytest.fixture
def serving(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> Iterator[HttpService]:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving


async def test_a_submitted_question_runs_and_its_report_is_read(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with serving.client() as client:
        accepted = await client.post("/jobs", json=QUESTION)
        job_id = accepted.json()["job_id"]
        await engine.holdfast.wait(job_id)
        shown = await client.get(accepted.headers["location"].removeprefix("/v1"))
        report = await client.get(f"/jobs/{job_id}/report?format=md")

    assert accepted.status_code == 202
    assert (shown.json()["status"], shown.json()["answer"]) == ("done", "found a")
    assert report.headers["content-type"].startswith("text/markdown")
    assert "found a" in report.text


async def test_a_repeated_key_gives_the_same_job_and_another_question_is_refused(
    serving: HttpService,
) -> None:
    key = {"Idempotency-Key": "monday"}
    async with serving.client() as client:
        answers = await asyncio.gather(
            *(client.post("/jobs", json=QUESTION, headers=key) for _ in range(8))
        )
        other = await client.post("/jobs", json=QUESTION | {"question": "When?"}, headers=key)
        listed = (await client.get("/jobs")).json()

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["job_id"] for answer in answers}) == len(listed) == 1
    assert (other.status_code, other.json()["error"]) == (422, "RequestKeyTaken")
    assert "the request key 'monday' belongs to job" in other.json()["detail"]


FAULTS: list[tuple[dict[str, Any], int, str]] = [
    ({"question": " "}, 400, "the question is empty"),
    ({"question": "x" * 20_001}, 400, "20,001 characters"),
    ({}, 422, "body.question: field required"),
    ({"question": 7}, 422, "body.question: input should be a valid string"),
    ({"question": "Who?", "colour": "x"}, 422, "body.colour: extra inputs"),
    ({"question": "Who?", "preset": "odd"}, 404, "there is no preset 'odd'"),
    ({"question": "Who?", "model": "my model"}, 400, "'my model' is not the name"),
    ({"question": "Who?", "settings": {"slotz": 3}}, 400, "did you mean 'slots'"),
    ({"question": "Who?", "settings": {"slots": "many"}}, 400, "setting 'slots'"),
    ({"question": "Who?", "collection": "nowhere"}, 404, "no collection 'nowhere'"),
    ({"question": "Who?", "servers": ["nowhere"]}, 400, "there is no server 'nowhere'"),
    ({"question": "Who?", "follows": "job-x"}, 404, "there is no job 'job-x'"),
    ({"question": "Who?", "follows": "j", "servers": ["a"]}, 404, "there is no job 'j'"),
]


async def test_a_fault_is_named_and_nothing_is_stored(serving: HttpService) -> None:
    async with serving.client() as client:
        for body, status, words in FAULTS:
            answer = await client.post("/jobs", json={"model": "scripted"} | body)
            listed = (await client.get("/jobs")).json()

            assert (answer.status_code, listed) == (status, []), (body, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
            assert words in answer.json()["detail"].lower()


NO_SUBMISSIONS = [
    (b"{", 422, "body: it is no JSON from character 1 on"),
    (b"", 422, "body: it is missing; send what /openapi.json describes, as JSON"),
    (b'"Who?"', 422, "body: "),
    (b"\xff\xfe", 422, "body: "),
    (b'{"question": "Who?", "question": [' + b"[" * 100_000, 400, "send what /openapi.json"),
    (b" " * 3_000_000, 413, "at most 2,000,000 bytes"),
]


async def test_a_body_that_is_no_submission_is_refused(serving: HttpService) -> None:
    headers = {"Content-Type": "application/json"}
    async with serving.client() as client:
        for content, status, words in NO_SUBMISSIONS:
            answer = await client.post("/jobs", content=content, headers=headers)

            assert answer.status_code == status, (content[:40], answer.text)
            assert words in answer.json()["detail"]


async def test_a_text_with_half_of_a_character_is_refused(serving: HttpService) -> None:
    headers = {"Content-Type": "application/json"}
    sent = {
        b'{"question": "\\ud800 who?"}': "the question has half of a character, '\\ud800'",
        b'{"question": "a", "model": "\\ud800"}': "'\\ud800'",
        b'{"question": "\xff"}': "as JSON in UTF-8",
    }
    async with serving.client() as client:
        answers = [await client.post("/jobs", content=body, headers=headers) for body in sent]
        listed = (await client.get("/jobs")).json()

    assert [each.status_code for each in answers] == [400, 400, 400]
    for answer, said in zip(answers, sent.values(), strict=True):
        assert said in answer.json()["detail"]
    assert listed == []


async def test_a_body_of_another_type_is_refused_with_the_right_one(serving: HttpService) -> None:
    async with serving.client() as client:
        answer = await client.post("/jobs", data={"question": "Who?"})

    assert answer.status_code == 422
    assert "send JSON with the header Content-Type" in answer.json()["detail"]


async def test_a_schedule_whose_parts_contradict_each_other_is_refused(
    serving: HttpService,
) -> None:
    bodies = [{}, {"ask": QUESTION, "update": "job-x"}, {"ask": QUESTION, "search": True}]
    async with serving.client() as client:
        answers = [
            await client.post("/schedules", json={"times": "daily 08:00", **body})
            for body in bodies
        ]
        listed = (await client.get("/schedules")).json()

    assert [each.status_code for each in answers] == [400, 400, 400]
    assert "give either `ask`" in answers[0].json()["detail"]
    assert "`search` belongs to `update`" in answers[2].json()["detail"]
    assert listed == []


async def test_a_list_is_read_in_parts_and_searched(
    engine: RunningEngine, serving: HttpService
) -> None:
    ids = [await engine.submit(f"Who is number {n}?") for n in range(5)]
    seen: list[str] = []
    address: str | None = "/jobs?limit=2&preset=kpi-chain"
    async with serving.client() as client:
        while address is not None:
            part = await client.get(address)
            seen += [line["job_id"] for line in part.json()]
            link = part.headers.get("link")
            address = link and link[1 : link.index(">")].removeprefix("/v1")
        found = (await client.get("/jobs?q=NUMBER%203")).json()
        none = (await client.get("/jobs?q=%25")).json()

    assert seen == ids[::-1]
    assert [line["job_id"] for line in found] == [ids[3]]
    assert none == []


async def test_a_collection_is_read_by_the_job_that_names_it(
    engine: RunningEngine, serving: HttpService
) -> None:
    await engine.add_document("harbour", "Ada built the light.")
    async with serving.client() as client:
        body = QUESTION | {"collection": "harbour"}
        job_id = (await client.post("/jobs", json=body)).json()["job_id"]
        listed = (await client.get("/collections")).json()
        documents = (await client.get("/collections/harbour/documents")).json()
        found = (await client.post("/collections/harbour/search", json={"query": "Ada"})).json()
        missing = await client.get("/collections/nowhere/documents")
        removed = (await client.delete("/collections/harbour/documents")).json()

    job = await job_rows.load_job(engine.db, job_id)
    assert job.request.collection == "harbour"
    assert [line["name"] for line in listed] == ["harbour"]
    assert [line["address"] for line in documents] == ["harbour.md"]
    assert [passage["text"] for passage in found["passages"]] == ["Ada built the light."]
    assert (missing.status_code, missing.json()["error"]) == (404, "NotFound")
    assert removed == {"collection": "harbour", "removed": 1}
    assert await CorpusStore(engine.db).collections() == ()
