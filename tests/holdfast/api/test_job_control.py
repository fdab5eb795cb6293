"""Tests for changing jobs over HTTP: control, answers about a revision of the plan, removal."""

import asyncio
from collections.abc import Iterator

import httpx2
import pytest

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.storage.jobs import job_rows
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


@pytest.fixture
def serving(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> Iterator[HttpService]:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    with HttpService(engine.holdfast, writes=True) as serving:
        yield serving


def named_field(answer: httpx2.Response) -> str:
    """The only field that the problem document names."""
    [fault] = answer.json()["errors"]
    return str(fault["field"])


async def ended_job(engine: RunningEngine, serving: HttpService) -> str:
    return (await engine.run("Who?")).job_id


@pytest.mark.long
async def test_an_answer_about_an_older_plan_is_refused(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await engine.submit("Who?", review=True)
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    address = f"/jobs/{job_id}/questions/{question.id}"
    async with serving.client() as client:
        shown = await client.get(f"/jobs/{job_id}/plan")
        old = await client.post(address, json={"choice": "approve"}, headers={"If-Match": '"0"'})
        odd = [
            await client.post(address, json=body)
            for body in ({"choice": "odd"}, {"choice": "edit", "text": "odd"}, {})
        ]
        still = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
        now = {"If-Match": shown.headers["etag"]}
        accepted = await client.post(address, json={"choice": "approve"}, headers=now)
        await engine.holdfast.wait(job_id)
        again = await client.post(address, json={"choice": "approve"}, headers=now)

    assert (old.status_code, old.json()["error"], still.id) == (412, "PlanMoved", question.id)
    assert [named_field(each) for each in odd] == ["body.choice", "body.text", "body.text"]
    assert "read the plan again" in old.json()["detail"]
    assert accepted.json() == {"job_id": job_id, "did": "answered"}
    assert (again.status_code, again.json()["error"]) == (400, "BadInput")
    assert (await job_rows.load_job(engine.db, job_id)).status is JobStatus.DONE


@pytest.mark.long
async def test_an_edited_plan_runs(
    engine: RunningEngine, serving: HttpService, players: ScriptedRoles
) -> None:
    job_id = await engine.submit("Who?", review=True)
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    async with serving.client() as client:
        text = (await client.get(f"/jobs/{job_id}/plan.yaml")).text
        body = {"choice": "edit", "text": text.replace("find value for T1", "find the builder")}
        answer = await client.post(f"/jobs/{job_id}/questions/{question.id}", json=body)
        await engine.holdfast.wait(job_id)
        tasks = (await client.get(f"/jobs/{job_id}/plan")).json()
        changes = (await client.get(f"/jobs/{job_id}/plan/changes")).json()

    assert answer.status_code == 202, answer.text
    assert "find the builder" in {task["description"] for task in tasks}
    assert len(changes) == 2


async def test_a_job_is_paused_steered_resumed_and_retried(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await engine.submit("Who?", review=True)
    await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    async with serving.client() as client:

        async def did(what: str, **body: object) -> str:
            answer = await client.post(f"/jobs/{job_id}/{what}", json=body or None)
            assert answer.status_code == 202, answer.text
            return str(answer.json().get("did"))

        asked = [await did("pause"), await did("steer", guidance="Prefer registers.")]
        asked += [await did("resume"), await did("cancel")]
        await engine.holdfast.wait(job_id)
        refused = await client.post(f"/jobs/{job_id}/pause")
        kinds = [entry["kind"] for entry in (await client.get(f"/jobs/{job_id}/log")).json()]

    assert asked == ["paused", "steered", "resumed", "cancelling"]
    assert (refused.status_code, refused.json()["error"]) == (400, "BadInput")
    assert {"job.paused", "job.steered", "job.resumed", "job.cancelling"} <= set(kinds)


@pytest.mark.long
async def test_tasks_run_again_after_they_were_named(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await ended_job(engine, serving)
    async with serving.client() as client:
        seen = await client.post(f"/jobs/{job_id}/retry", json={"tasks": ["T1"], "dry_run": True})
        before = await job_rows.load_job(engine.db, job_id)
        done = await client.post(f"/jobs/{job_id}/retry", json={"tasks": ["T1"]})
        await engine.holdfast.wait(job_id)
        wrong = await client.post(f"/jobs/{job_id}/retry", json={"tasks": ["T9"]})
        none = await client.post(f"/jobs/{job_id}/retry", json={"tasks": []})
        of_fork = await client.post(f"/jobs/{job_id}/fork/preview", json={"tasks": ["T9"]})
        no_words = await client.post(f"/jobs/{job_id}/steer", json={"guidance": " "})
        no_age = await client.post(f"/jobs/{job_id}/update", json={"older_than": "odd"})

    assert seen.json() == done.json() == {"rerun": ["T1", "T2"], "kept": []}
    assert [named_field(each) for each in (wrong, of_fork, no_words, no_age)] == [
        "body.tasks",
        "body.tasks",
        "body.guidance",
        "body.older_than",
    ]
    assert before.status is JobStatus.DONE
    assert (await job_rows.load_job(engine.db, job_id)).attempt == 2
    assert (wrong.status_code, none.status_code) == (404, 422)


@pytest.mark.long
async def test_evidence_is_traced_read_rechecked_and_withdrawn(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await ended_job(engine, serving)
    other = await ended_job(engine, serving)
    async with serving.client() as client:
        report = (await client.get(f"/jobs/{job_id}/report")).json()
        citation = report["citations"][0]
        traced = await client.get(f"/jobs/{job_id}/provenance/{citation['mark']}")
        source = await client.get(f"/jobs/{job_id}/sources/{citation['source_id']}")
        checked = await client.post(f"/jobs/{job_id}/recheck")
        body = {"evidence": citation["evidence_id"], "reason": "It is a copy."}
        gone = await client.post(f"/jobs/{job_id}/retractions", json=body)
        foreign = await client.get(f"/jobs/{job_id}/sources/999999")
        wrong = {
            "path.mark": await client.get(f"/jobs/{job_id}/provenance/99"),
            "path.source": foreign,
            "path.sha256": await client.get(f"/jobs/{job_id}/figures/x"),
            "path.other": await client.get(f"/jobs/{job_id}/compare/job-x"),
            "path.question": await client.post(f"/jobs/{job_id}/questions/odd", json={}),
            "body.evidence": await client.post(
                f"/jobs/{job_id}/retractions", json={"evidence": 999999, "reason": "a copy"}
            ),
        }

    assert citation["quote"] in traced.text
    assert citation["quote"] in source.json()["text"]
    assert {use["job_id"] for use in source.json()["evidence"]} == {job_id}
    assert other not in source.text
    assert checked.json()["counts"]
    assert gone.json()["reason"] == "It is a copy."
    assert foreign.status_code == 404
    for field, answer in wrong.items():
        assert [fault["field"] for fault in answer.json()["errors"]] == [field]


@pytest.mark.long
async def test_an_ended_job_is_removed(engine: RunningEngine, serving: HttpService) -> None:
    job_id = await ended_job(engine, serving)
    async with serving.client() as client:
        removed = await client.delete(f"/jobs/{job_id}")
        shown = await client.get(f"/jobs/{job_id}")

    assert removed.json()["job_id"] == job_id
    assert shown.status_code == 404


async def test_what_the_installation_offers_is_listed(serving: HttpService) -> None:
    paths = (
        "/presets",
        "/settings",
        "/configured-models",
        "/agents",
        "/tools",
        "/statistics",
        "/doctor",
    )
    async with serving.client() as client:
        answers = dict(zip(paths, await asyncio.gather(*map(client.get, paths)), strict=True))

    assert {answer.status_code for answer in answers.values()} == {200}, answers
    assert "research" in answers["/presets"].json()
    assert "lab.lookup" in {tool["name"] for tool in answers["/tools"].json()["tools"]}
    assert "slots" in {setting["name"] for setting in answers["/settings"].json()}
