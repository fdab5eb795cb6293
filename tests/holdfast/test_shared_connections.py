"""Test that requests which need Temporal at the same time open one connection."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast import client
from holdfast.client import Holdfast
from holdfast.jobs import current_status
from holdfast.models.errors import ServiceDown
from holdfast.temporal.workflow_activity import WorkflowActivity


async def test_requests_at_the_same_time_share_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[object] = []

    async def connect(*_: object) -> object:
        opened.append(object())
        await asyncio.sleep(0)
        if len(opened) == 2:
            raise ServiceDown("Temporal does not answer")
        return opened[-1]

    monkeypatch.setattr(client, "connect", connect)
    nothing: Any = None
    holdfast = Holdfast(nothing, nothing, nothing)

    together = await asyncio.gather(*(holdfast.shared_connection() for _ in range(20)))
    refused = await asyncio.gather(
        *(holdfast.shared_connection() for _ in range(20)), return_exceptions=True
    )
    later = await holdfast.shared_connection()

    assert {id(each) for each in together} == {id(opened[0])}
    assert all(isinstance(each, ServiceDown) for each in refused)
    assert later is opened[2]
    assert len(opened) == 3


async def test_readings_keep_one_connection_until_it_gives_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[object] = []

    async def connect(*_: object) -> object:
        opened.append(object())
        return opened[-1]

    monkeypatch.setattr(client, "connect", connect)
    nothing: Any = None
    holdfast = Holdfast(nothing, nothing, nothing)
    copy = replace(holdfast)

    first, same = await holdfast.reading_connection(), await copy.reading_connection()
    copy.forget_connection(first)
    later = await holdfast.reading_connection()
    # A reading that was under way over the first one says so after another was opened.
    holdfast.forget_connection(first)

    assert first is same
    assert later is not first
    assert await copy.reading_connection() is later
    assert len(opened) == 2


async def test_a_connection_that_was_just_opened_and_gives_no_answer_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[object] = []
    asked: list[object] = []

    async def connect(*_: object) -> object:
        opened.append(object())
        return opened[-1]

    async def no_answer(connection: object, *_: object) -> WorkflowActivity:
        asked.append(connection)
        raise ServiceDown("Temporal does not answer")

    monkeypatch.setattr(client, "connect", connect)
    monkeypatch.setattr(current_status, "workflow_activity", no_answer)
    settings: Any = SimpleNamespace(task_queue="queue")
    job: Any = SimpleNamespace(id="job-x")
    nothing: Any = None
    holdfast = Holdfast(settings, nothing, nothing)

    first = await current_status._workflow_activity(holdfast, job)
    assert first.blocked_by == ("Temporal does not answer",)
    assert (len(opened), asked, holdfast.has_reading_connection) == (1, opened, False)
    await holdfast.reading_connection()
    await current_status._workflow_activity(holdfast, job)
    assert (len(opened), asked, holdfast.has_reading_connection) == (3, opened, False)


async def test_a_request_that_is_given_up_takes_nobody_elses_connection_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[object] = []
    may_answer = asyncio.Event()

    async def connect(*_: object) -> object:
        opened.append(object())
        await may_answer.wait()
        return opened[-1]

    monkeypatch.setattr(client, "connect", connect)
    nothing: Any = None
    holdfast = Holdfast(nothing, nothing, nothing)

    first = asyncio.create_task(holdfast.shared_connection())
    others = [asyncio.create_task(holdfast.shared_connection()) for _ in range(3)]
    while not opened:
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    may_answer.set()

    assert await asyncio.gather(*others) == [opened[0]] * 3
    assert first.cancelled()
    assert len(opened) == 1
