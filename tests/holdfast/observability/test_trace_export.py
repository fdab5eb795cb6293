"""Tests for the traces that a collector gets from the ledger."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from holdfast.observability.span_sender import SpanSender
from holdfast.observability.trace_export import TraceExporter, send_trace
from holdfast.planning.traces.span_ids import trace_id
from holdfast.storage.views.job_queries import job_calls
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.trace_collector import TraceCollector
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-05")]

EXPORTER = """
import asyncio, sys
from datetime import timedelta
from holdfast.observability.span_sender import SpanSender
from holdfast.observability.trace_export import TraceExporter
from holdfast.storage.core.database import Database
async def export():
    lease = timedelta(seconds=1)
    await TraceExporter(Database(sys.argv[1]), SpanSender(), "first", lease).export()
asyncio.run(export())
"""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceCollector]:
    with TraceCollector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        yield collector


async def run_job(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    answers_after: Callable[[], bool] = lambda: True,
) -> str:
    def answer(argument: str) -> str:
        given_up = time.monotonic() + 30
        while not answers_after() and time.monotonic() < given_up:
            time.sleep(0.02)
        return f"a secret about {argument}"

    players.plan = plan(lookup_task("T1", query="q1"), final_task("T2", "T1"))
    tools.answers = answer
    return (await engine.run("Who keeps the light?")).job_id


async def export_until(is_over: asyncio.Event, exporter: TraceExporter) -> None:
    while not is_over.is_set():
        await exporter.export()
        await asyncio.sleep(0.05)


async def test_a_trace_has_every_call_once_and_shows_where_it_belongs(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, collector: TraceCollector
) -> None:
    with SpanSender() as sender:
        exporter = TraceExporter(engine.db, sender, "only")
        await exporter.export()  # from now on
        is_over = asyncio.Event()
        exports = asyncio.create_task(export_until(is_over, exporter))
        # The tool answers once the collector has the call of the planner: the job still runs.
        job_id = await run_job(engine, players, tools, answers_after=lambda: bool(collector.spans))
        is_over.set()
        await exports

        await exporter.export()
        await exporter.export()
    sent = list(collector.spans)
    again = await send_trace(engine.db, job_id)

    calls = await job_calls(engine.db, job_id)
    ids = [span.span_id.hex() for span in sent]
    assert len(ids) == len(set(ids)) == len(calls) + 2 + 1
    assert {span.trace_id.hex() for span in sent} == {trace_id(job_id)}
    assert {span.parent_span_id.hex() for span in sent} <= {*ids, ""}
    assert again.spans == len(sent)
    assert {span.SerializeToString() for span in collector.spans} == {
        span.SerializeToString() for span in sent
    }
    assert "secret" not in str(sent)
    assert "light" not in str(sent)


@pytest.mark.long
async def test_a_span_stays_the_same_over_a_killed_exporter_and_a_collector_that_was_away(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    collector: TraceCollector,
    database_url: str,
) -> None:
    with SpanSender() as sender:
        await TraceExporter(engine.db, sender, "first").export()
    await run_job(engine, players, tools)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", EXPORTER, database_url)

    def kill_once() -> int:
        # The spans have come, and their sender cannot record it any more.
        os.kill(process.pid, signal.SIGKILL)
        collector.answer = lambda: 200
        return 200

    collector.answer = kill_once
    async with asyncio.timeout(60):
        await process.wait()
        while not collector.spans:  # the collector adds them after it has killed their sender
            await asyncio.sleep(0.05)
    first = {span.span_id: span.SerializeToString() for span in collector.spans}

    with SpanSender() as sender:
        second = TraceExporter(engine.db, sender, "second", timedelta(seconds=60))
        async with asyncio.timeout(60):
            while len(collector.spans) == len(first):  # until the lease of the first is over
                await second.export()
                await asyncio.sleep(0.1)
        await second.export()

    assert process.returncode == -signal.SIGKILL
    assert first
    stored = {span.span_id: span.SerializeToString() for span in collector.spans}
    assert stored.items() >= first.items()
    assert len(collector.spans) == len(first) + len(stored)
