"""A worker that is cut off, taken over, and comes back cannot double or undo anything."""

import signal

import pytest

from models.jobs import JobStatus
from roles.extractor import EXTRACTOR
from storage import views
from tests.durability.processes import Workers
from tests.support.engine import Engine
from tests.support.plans import final, plan, tool
from tests.support.players import Players, extraction
from tests.support.scripted_model import Asked, Reply
from tests.support.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


_LATE_S = 3.0
"""The first answer comes while its worker stands still, and before another takes over."""


@pytest.mark.conformance("BEY-03")
async def test_a_worker_that_was_taken_over_and_comes_back_changes_nothing(
    client_side: Engine,
    workers: Workers,
    players: Players,
    tools: ScriptedTools,
) -> None:
    players.plan = plan(tool("T1", query="a"), final("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"

    def part(asked: Asked) -> Reply:
        is_first = players.count(EXTRACTOR) == 1
        value, delay = ("late", _LATE_S) if is_first else ("in time", 0)
        return Reply.of(extraction(value, 0.9)(asked), delay=delay)

    players.parts["extractor"] = part
    first = await workers.start()
    job_id = await client_side.submit("Who?")
    await first.until(lambda: players.count(EXTRACTOR) == 1)
    first.process.send_signal(signal.SIGSTOP)
    await workers.start()
    job = await client_side.holdfast.wait(job_id)
    before = await views.events_after(client_side.db, job_id, 0)
    said = len(first.log)

    first.process.send_signal(signal.SIGCONT)
    await first.until(lambda: len(first.log) > said)

    assert job.status is JobStatus.DONE
    assert (await client_side.holdfast.show(job_id)).answer == "in time"
    assert await views.events_after(client_side.db, job_id, 0) == before
    assert {call.status for call in await views.calls(client_side.db, job_id)} == {"done"}
    assert not first.logged("activity.broke")
