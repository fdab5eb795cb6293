"""Tests for a job's event log over HTTP: each event once, in order, and the rest after a dropped
connection."""

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.jobs.job_controller import JobController
from holdfast.storage.views.job_queries import events_after
from tests.engine.control.test_job_controls import start_delayed_job
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService, ReceivedEvent
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("VMAO-14")]


@pytest.fixture(autouse=True)
def _answering(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"


@pytest.fixture
def serving(engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(engine.holdfast) as serving:
        yield serving


async def logged(engine: RunningEngine, job_id: str) -> list[dict[str, Any]]:
    found = await events_after(engine.db, job_id, 0, limit=10_000)
    return [entry.model_dump(mode="json") for entry in found]


async def paused(engine: RunningEngine, players: ScriptedRoles) -> str:
    """A job that is held in mid-run."""
    job_id = await start_delayed_job(engine, players, "a", 0.3, until="task.started")
    await JobController(engine.holdfast, "dana").pause(job_id)
    await wait_for_event(engine, job_id, "task.done")
    return job_id


async def resumed(engine: RunningEngine, job_id: str) -> None:
    await JobController(engine.holdfast, "dana").resume(job_id)


async def ended(engine: RunningEngine, players: ScriptedRoles) -> str:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    return (await engine.run("Who?")).job_id


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


def entries(received: list[ReceivedEvent]) -> list[dict[str, Any]]:
    """What was received of the log, once it is known that its end came last."""
    assert [each.event for each in received].index("end") == len(received) - 1
    log = received[:-1]
    assert [(each.id, each.event) for each in log] == [
        (str(each.data["seq"]), each.data["kind"]) for each in log
    ]
    return [each.data for each in log]


async def test_a_stream_tells_every_entry_once_and_in_order_while_the_job_runs(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await paused(engine, players)

    following = asyncio.create_task(serving.all_events(job_id))
    await until(lambda: serving.following.readers == {job_id: 1})
    await resumed(engine, job_id)
    received = await following

    told = entries(received)
    assert told == await logged(engine, job_id)
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    assert set(told[0]) == {"seq", "at", "kind", "task", "facts"}
    assert received[-1] == ReceivedEvent(
        "",
        "end",
        {
            "job_id": job_id,
            "status": "done",
            "stop_reason": "answered",
            "last_event": len(told),
        },
    )


@pytest.mark.parametrize("is_over", [False, True], ids=["while it runs", "once it is over"])
async def test_after_a_dropped_connection_the_last_event_id_gives_exactly_the_rest(
    is_over: bool, engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await paused(engine, players)
    before: list[ReceivedEvent] = []
    async with serving.events(job_id) as received:
        async for each in received:
            before.append(each)
            if each.event == "job.paused":
                break
    await until(lambda: serving.following.readers == {})

    if is_over:
        await resumed(engine, job_id)
        await engine.holdfast.wait(job_id)
        rest = await serving.all_events(job_id, last=before[-1].id)
    else:
        following = asyncio.create_task(serving.all_events(job_id, last=before[-1].id))
        await until(lambda: serving.following.readers == {job_id: 1})
        await resumed(engine, job_id)
        rest = await following

    assert [each.event for each in before].count("job.paused") == 1
    assert len(rest) > 3
    assert [each.data for each in before] + entries(rest) == await logged(engine, job_id)


@pytest.mark.long
async def test_two_readers_share_what_is_looked_at_and_both_are_told_all(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await paused(engine, players)

    both = [asyncio.create_task(serving.all_events(job_id)) for _ in range(2)]
    await until(lambda: serving.following.readers == {job_id: 2})
    await resumed(engine, job_id)
    one, other = await asyncio.gather(*both)

    assert one == other
    assert entries(one) == await logged(engine, job_id)
    await until(lambda: serving.following.readers == {})


@pytest.mark.long
async def test_a_job_that_is_over_is_told_from_its_log_and_ended(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await ended(engine, players)
    log = await logged(engine, job_id)

    whole = await serving.all_events(job_id)
    behind = await serving.all_events(job_id, query="?after=3")
    # A browser reconnects with the address that it began with, and the header it has since.
    reconnected = await serving.all_events(job_id, query="?after=1", last="3")
    nothing = await serving.all_events(job_id, last=str(len(log)))

    assert entries(whole) == log
    assert entries(behind) == entries(reconnected) == log[3:]
    assert [each.event for each in nothing] == ["end"]


@pytest.mark.long
async def test_a_job_that_was_reopened_is_followed_to_its_next_end(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await ended(engine, players)
    first = await serving.all_events(job_id)
    await JobController(engine.holdfast, "dana").retry(job_id, ["T1"])

    rest = await serving.all_events(job_id, last=first[-2].id)

    assert rest[0].event == "job.retried"
    assert entries(first) + entries(rest) == await logged(engine, job_id)


async def test_a_last_event_id_that_is_no_number_is_refused(
    engine: RunningEngine, serving: HttpService
) -> None:
    job_id = await engine.submit("Who?")

    for given in ("-1", "x", "1.5", "", "9" * 30, "٣", "+1", "1_0"):
        answer = await serving.get(f"/jobs/{job_id}/events?after={given.replace('+', '%2B')}")
        by_header = (
            await serving.get(f"/jobs/{job_id}/events", **{"Last-Event-ID": given})
            if given.isascii()
            else answer
        )

        assert answer.status_code == by_header.status_code == 400, given
        assert answer.json() == by_header.json()
        assert answer.json()["error"] == "BadInput"
        assert repr(given[:40]) in answer.json()["message"]
    assert serving.following.readers == {}


@pytest.mark.long
async def test_an_entry_that_the_log_does_not_have_is_refused(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await ended(engine, players)
    entries_so_far = len(await logged(engine, job_id))

    answer = await serving.get(f"/jobs/{job_id}/events", **{"Last-Event-ID": "1000"})

    assert answer.status_code == 400
    assert f"has {entries_so_far} entries" in answer.json()["message"]


@pytest.mark.long
async def test_a_head_request_starts_no_stream(
    engine: RunningEngine, players: ScriptedRoles, serving: HttpService
) -> None:
    job_id = await paused(engine, players)

    async with serving.client() as client:
        answer = await client.head(f"/jobs/{job_id}/events")

    assert answer.status_code == 405
    assert serving.following.readers == {}


@pytest.mark.long
async def test_a_server_that_ends_lets_go_of_its_streams_without_an_end(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job_id = await paused(engine, players)

    with HttpService(engine.holdfast) as serving:
        following = asyncio.create_task(serving.all_events(job_id))
        await until(lambda: serving.following.readers == {job_id: 1})
        stopping = asyncio.to_thread(serving.__exit__, None, None, None)
        await stopping
        received = await following

    assert received[-1].event != "end"
    with HttpService(engine.holdfast) as again:
        following = asyncio.create_task(again.all_events(job_id, last=received[-1].id))
        await until(lambda: again.following.readers == {job_id: 1})
        await resumed(engine, job_id)
        rest = await following
    assert [each.data for each in received] + entries(rest) == await logged(engine, job_id)


@pytest.mark.long
async def test_a_reader_that_takes_nothing_is_cut_off_and_can_come_back(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    job_id = await ended(engine, players)
    await grown(engine, job_id, 4000)

    with HttpService(engine.holdfast, reads_within=timedelta(milliseconds=300)) as serving:
        host, _, port = serving.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as reader:
            reader.sendall(
                f"GET /v1/jobs/{job_id}/events HTTP/1.1\r\nHost: {host}\r\n"
                f"Authorization: Bearer {serving.token}\r\n\r\n".encode()
            )
            # It has begun once an entry can be seen, which is not taken by that.
            await until(lambda: b"id: " in reader.recv(4096, socket.MSG_PEEK))
            await until(lambda: serving.following.readers == {})
            arrived = await asyncio.to_thread(drained, reader)
        last = re.findall(rb"id: (\d+)\nevent: [^\n]*\ndata: [^\n]*\n\n", arrived)[-1].decode()
        rest = await serving.all_events(job_id, last=last)

    assert b"event: end" not in arrived
    assert entries(rest) == (await logged(engine, job_id))[int(last) :] != []


async def grown(engine: RunningEngine, job_id: str, count: int) -> None:
    """More log than all the buffers between two sockets hold: 4 kB an entry."""
    added = (
        "insert into events (job_id, seq, kind, facts) select id, last_event + n, 'noted',"
        " jsonb_build_object('words', repeat('x', 4000))"
        " from jobs, generate_series(1, :count) n where id = :job"
    )
    counted = "update jobs set last_event = last_event + :count where id = :job"
    async with engine.db.writing() as connection:
        for statement in (added, counted):
            await connection.execute(text(statement), {"job": job_id, "count": count})


def drained(reader: socket.socket) -> bytes:
    """What is still on its way, up to where the server closed the connection."""
    arrived = b""
    try:
        while some := reader.recv(1 << 20):
            arrived += some
    except ConnectionResetError:
        pass
    return arrived
