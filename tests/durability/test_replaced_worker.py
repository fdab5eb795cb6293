"""Tests that a worker which was cut off and replaced cannot repeat or undo anything when it comes
back."""

import signal

import pytest

from holdfast.models.jobs.job_record import JobStatus
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.storage.views import job_queries
from tests.durability.worker_launcher import WorkerLauncher
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


_LATE_S = 3.0
"""The first answer comes while its worker stands still, and before another takes over."""


@pytest.mark.conformance("BEY-03")
async def test_a_worker_that_was_taken_over_and_comes_back_changes_nothing(
    client_side: RunningEngine,
    workers: WorkerLauncher,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"

    def part(asked: ReceivedRequest) -> ScriptedReply:
        is_first = players.count(EXTRACTOR) == 1
        value, delay = ("late", _LATE_S) if is_first else ("in time", 0)
        return ScriptedReply.of(extractor_script(value, 0.9)(asked), delay=delay)

    players.parts["extractor"] = part
    first = await workers.start()
    job_id = await client_side.submit("Who?")
    await first.until(lambda: players.count(EXTRACTOR) == 1)
    first.process.send_signal(signal.SIGSTOP)
    await workers.start()
    job = await client_side.holdfast.wait(job_id)
    before = await job_queries.events_after(client_side.db, job_id, 0)
    said = len(first.log)

    first.process.send_signal(signal.SIGCONT)
    await first.until(lambda: len(first.log) > said)

    assert job.status is JobStatus.DONE
    assert (await client_side.holdfast.show(job_id)).answer == "in time"
    assert await job_queries.events_after(client_side.db, job_id, 0) == before
    assert {call.status for call in await job_queries.job_calls(client_side.db, job_id)} == {"done"}
    assert not first.logged("activity.broke")
