"""Tests for the client against a real server: submit, follow over a killed server, errors."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import AsyncClient, Client
from holdfast.jobs.job_controller import JobController
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.python_client import (
    AccessRefused,
    InvalidRequest,
    KeyRefused,
    NotFound,
    PlanMoved,
    RequestKeyTaken,
    ServerUnreachable,
)
from holdfast.python_client.answers import Event
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.question_jobs import wait_for_question
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService
from tests.support.services.server_process import free_port, server_process
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


@pytest.mark.conformance("API-06")
async def test_a_program_submits_answers_follows_and_reports(
    engine: RunningEngine, serving: HttpService
) -> None:
    async with AsyncClient(serving.url, serving.token) as client:
        sent = await client.submit("Who?", preset="kpi-chain", model="scripted", review=True)
        asked = await wait_for_question(engine, sent.job_id, QuestionKind.APPROVAL)
        (question,) = await client.open_questions(sent.job_id)
        with pytest.raises(PlanMoved):
            await client.answer(sent.job_id, question.id, choice="approve", plan_revision="0")
        revision = await client.plan_revision(sent.job_id)
        await client.answer(sent.job_id, question.id, choice="approve", plan_revision=revision)
        events = [event async for event in client.follow(sent.job_id)]
        job = await client.wait(sent.job_id)
        report = await client.report(sent.job_id)
        listed = await client.jobs(words="who")

    assert question.id == asked.id
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[-1].kind, job.status, job.has_ended) == ("job.ended", "done", True)
    assert {task.id for task in job.tasks} == {"T1", "T2"}
    assert (report.question, report.answer) == ("Who?", job.answer)
    assert report.citations
    assert [line.job_id for line in listed] == [sent.job_id]


@pytest.mark.long
async def test_a_follower_misses_and_repeats_nothing_over_a_killed_server(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await engine.submit("Who?", review=True)
    question = await wait_for_question(engine, job_id, QuestionKind.APPROVAL)
    port, events = free_port(), asyncio.Queue[Event]()
    client = Client(f"http://127.0.0.1:{port}", serving.token)
    loop = asyncio.get_running_loop()

    def follow() -> list[int]:
        seen = []
        for event in client.follow(job_id):
            seen.append(event.seq)
            loop.call_soon_threadsafe(events.put_nowait, event)
        return seen

    with client:
        with server_process(engine, port) as process:
            following = asyncio.create_task(asyncio.to_thread(follow))
            while (await events.get()).kind != "question.asked":
                continue
            os.kill(process.pid, signal.SIGKILL)
            process.wait(10)
            await JobController(engine.holdfast, "maria").answer(job_id, question.id, "approve", "")
            await engine.holdfast.wait(job_id)
        assert not following.done()
        with server_process(engine, port):
            seen = await following

    stored = await engine.holdfast.show(job_id)
    assert stored.status == "done"
    assert seen == list(range(1, len(seen) + 1))
    while events.qsize() > 1:
        events.get_nowait()
    assert events.get_nowait().kind == "job.ended"


@pytest.mark.long
async def test_a_submission_is_sent_again_until_the_server_is_there(
    engine: RunningEngine, serving: HttpService
) -> None:
    port = free_port()
    async with AsyncClient(f"http://127.0.0.1:{port}", serving.token) as client:
        sending = asyncio.create_task(client.submit("Who?", model="extractive"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sending), 0.3)
        with server_process(engine, port):
            sent = await sending
            listed = await client.jobs()

    assert [line.job_id for line in listed] == [sent.job_id]


async def test_errors_have_the_type_of_their_cause(serving: HttpService) -> None:
    async with AsyncClient(serving.url, serving.token, patience_s=0) as client:
        with pytest.raises(NotFound, match="there is no job 'J'") as unknown:
            await client.job("J")
        with pytest.raises(InvalidRequest) as wrong:
            await client.jobs(limit=0)
        await client.submit("Who?", model="scripted", key="a")
        with pytest.raises(RequestKeyTaken):
            await client.submit("When?", model="scripted", key="a")
        key = await client.create_key("laptop", "maria", scopes=["read"])
    async with AsyncClient(serving.url, key.key) as client:
        with pytest.raises(AccessRefused, match="no scope 'ask'"):
            await client.submit("Who?")
        with pytest.raises(NotFound):
            await client.report("J")
    async with AsyncClient(serving.url, "hf_wrong") as client:
        with pytest.raises(KeyRefused):
            await client.jobs()
    async with AsyncClient(f"http://127.0.0.1:{free_port()}", patience_s=0) as client:
        with pytest.raises(ServerUnreachable, match="`holdfast serve` serves it"):
            await client.jobs()

    assert (unknown.value.status, unknown.value.error) == (404, "NotFound")
    assert [field for field, _ in wrong.value.fields] == ["query.limit"]


async def test_a_folder_is_sent_without_its_hidden_files(
    serving: HttpService, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    (folder / "old" / ".git").mkdir(parents=True)
    for name in ("pier.md", "old/log.md", "old/.git/config.md", ".env.md"):
        (folder / name).write_text("The pier was built in 1868.")
    async with AsyncClient(serving.url, serving.token) as client:
        with pytest.raises(FileNotFoundError, match="no file or folder"):
            await client.add_documents("harbour", folder / "missing")
        sent = await client.add_documents("harbour", folder, metadata={"kind": "minutes"})
        upload = await client.wait_for_upload(sent.id)
        documents = await client.documents("harbour")
        found = await client.search("harbour", "pier", where={"kind": ["minutes"]})
        (collection,) = await client.collections()
        removed = await client.remove_documents("harbour")

    assert (upload.status, upload.progress.done) == ("done", 2)
    assert [document.address for document in documents] == ["old/log.md", "pier.md"]
    assert len(found.passages) == collection.documents == removed["removed"] == 2


async def test_a_wait_ends_with_its_time(engine: RunningEngine, serving: HttpService) -> None:
    job_id = await engine.submit("Who?", review=True)
    async with AsyncClient(serving.url, serving.token) as client:
        job = await client.wait(job_id, timeout_s=0.5)

    assert not job.has_ended
