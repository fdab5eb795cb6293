"""Tests for controls at the wrong moment: two people at once, a job that just ends, a report being
written."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.activities.lifecycle.control_activities import ControlActivities
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput, ServiceDown
from holdfast.models.jobs.activity_orders import ControlOrder
from holdfast.models.jobs.job_record import Job, JobStatus, StopReason
from holdfast.models.questions.control_requests import ControlKind
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_control_rows, job_rows
from holdfast.storage.jobs.job_control_rows import guidance_of
from holdfast.storage.views import job_queries
from holdfast.temporal.workflow_handle import wait_until_closed
from holdfast.temporal.workflow_start import start_workflow
from holdfast.worker import build_worker, open_services
from tests.engine.control.test_job_controls import (
    delay_extraction,
    events_of_kind,
    fail_extractions,
    wait_for_status,
)
from tests.engine.control.test_job_endings import wait_for_event
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

TWO = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
FORK = plan(
    lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
)


@pytest.fixture
def controller(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "dana")


@pytest.fixture(autouse=True)
def found(tools: ScriptedTools) -> None:
    tools.answers = lambda argument: f"found {argument}"


def finds_only(players: ScriptedRoles, *queries: str) -> None:
    """Let the extraction fail for every other query."""

    def part(asked: ReceivedRequest) -> object:
        is_found = asked.task["arguments"]["query"] in queries
        return extractor_script("found" if is_found else None, 0.9)(asked)

    players.parts["extractor"] = part


async def ended(engine: RunningEngine, job_id: str) -> Job:
    return await engine.holdfast.wait(job_id, timedelta(seconds=30))


async def statuses(engine: RunningEngine, job_id: str) -> dict[str, str]:
    return {task.id: task.status for task in (await engine.holdfast.show(job_id)).tasks}


@pytest.mark.long
async def test_of_two_who_resume_a_failed_job_at_once_one_does(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    finds_only(players)
    failed = await engine.run("Who?", max_replans_per_task="0")
    finds_only(players, "a")
    other = JobController(engine.holdfast, "kim")

    both = await asyncio.gather(
        controller.resume(failed.job_id), other.resume(failed.job_id), return_exceptions=True
    )
    job = await ended(engine, failed.job_id)

    assert job.status is JobStatus.DONE
    assert [isinstance(each, BadInput) for each in both].count(True) == 1
    assert len(await events_of_kind(engine, job.id, "job.resumed")) == 1
    assert job.attempt == 2
    assert (await engine.holdfast.show(job.id)).tasks[0].attempt == 2


@pytest.mark.long
async def test_of_two_who_retry_a_task_of_a_finished_job_at_once_one_does(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    done = await engine.run("Who?")
    other = JobController(engine.holdfast, "kim")

    both = await asyncio.gather(
        controller.retry(done.job_id, ["T1"]),
        other.retry(done.job_id, ["T1"]),
        return_exceptions=True,
    )
    job = await ended(engine, done.job_id)

    assert job.status is JobStatus.DONE
    assert [isinstance(each, BadInput) for each in both].count(True) == 1
    assert [task.attempt for task in (await engine.holdfast.show(job.id)).tasks] == [2, 2]


@pytest.mark.conformance("BEY-03")
async def test_a_job_that_ends_while_it_is_taken_for_lost_stays_as_it_ended(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """Between reading the row and asking Temporal the job came to its end."""
    players.plan = TWO
    delay_extraction("a", 1, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.started")
    before = await job_rows.load_job(engine.db, job_id)
    done = await ended(engine, job_id)

    with pytest.raises(BadInput, match="is done"):
        await controller._restart(before, None)
    with pytest.raises(BadInput, match="is done"):
        await controller._cancel_lost(before)

    after = await job_rows.load_job(engine.db, job_id)
    assert (after.status, after.stop_reason) == (JobStatus.DONE, StopReason.ANSWERED)
    assert after.epoch == done.epoch


@pytest.mark.conformance("WAVE-03")
@pytest.mark.long
async def test_what_could_not_run_before_the_job_ends_again_is_not_retried(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """T2 would lose what it found, and the job end at once because of T1."""
    players.plan = FORK

    def part(asked: ReceivedRequest) -> ScriptedReply:
        is_first = asked.task["arguments"]["query"] == "a"
        return ScriptedReply.of(
            extractor_script(None if is_first else "found", 0.9)(asked), delay=is_first * 1.0
        )

    players.parts["extractor"] = part
    failed = await engine.run("Who?", max_replans_per_task="0")
    assert {task.id: task.status for task in failed.tasks}["T2"] == "done"
    finds_only(players, "a", "b")

    with pytest.raises(BadInput, match="retry T1 as well"):
        await controller.retry(failed.job_id, ["T2"])
    kept = {task.id: task.entities for task in (await engine.holdfast.show(failed.job_id)).tasks}
    assert kept["T2"] == {"value": "found"}

    assert (await controller.retry(failed.job_id, ["T1", "T2"])).rerun == ("T1", "T2")
    assert (await ended(engine, failed.job_id)).status is JobStatus.DONE


@pytest.mark.long
async def test_a_task_that_nothing_of_the_answer_rests_on_is_not_retried(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1")
    )
    delay_extraction("a", 1, players)
    done = await engine.run("Who?")
    before = await engine.holdfast.show(done.job_id)
    assert {task.id: task.status for task in before.tasks}["T2"] == "done"

    with pytest.raises(BadInput, match="T2"):
        await controller.retry(done.job_id, ["T2"])

    after = await engine.holdfast.show(done.job_id)
    assert after.tasks == before.tasks
    assert after.status == "done"


@pytest.mark.long
async def test_a_job_out_of_tool_calls_is_resumed_with_more_of_them_only(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, model: ScriptedModel
) -> None:
    players.plan = FORK
    failed = await engine.run("Who?", max_tool_calls="1")
    asked = model.count
    assert failed.stop_reason == "tool_call_limit"

    with pytest.raises(BadInput, match=r"1 tool calls are used up.*a higher max_tool_calls"):
        await controller.resume(failed.job_id)
    assert (await job_rows.load_job(engine.db, failed.job_id)).status is JobStatus.FAILED
    assert model.count == asked

    strategy = (await job_rows.load_job(engine.db, failed.job_id)).request.strategy
    more = strategy.model_copy(update={"max_tool_calls": 5})
    await controller.resume(failed.job_id, more)
    assert (await ended(engine, failed.job_id)).status is JobStatus.DONE


@pytest.mark.conformance("WAVE-03")
async def test_nothing_is_retried_while_the_report_is_written(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, model: ScriptedModel
) -> None:
    players.plan = TWO
    players.parts["synthesiser"] = lambda asked: ScriptedReply.of(
        players._synthesiser(asked), delay=2
    )
    job_id = await engine.submit("Who?")
    async with asyncio.timeout(30):
        while not players.asked.get("synthesiser"):
            await asyncio.sleep(0.05)

    with pytest.raises(BadInput, match="is being written"):
        await controller.retry(job_id, ["T1"])
    job = await ended(engine, job_id)

    assert job.status is JobStatus.DONE
    assert job.answer is not None
    assert await statuses(engine, job_id) == {"T1": "done", "T2": "done"}


@pytest.mark.long
async def test_a_report_of_what_was_found_is_written_anew_when_more_was_found(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
    )
    finds_only(players, "a")
    failed = await engine.run("Who?", max_replans_per_task="0")
    delay_extraction("b", 0, players)
    players.parts["reasoner"] = lambda asked: ScriptedReply.of(players._reasoner(asked), delay=20)
    await controller.resume(failed.job_id)
    async with asyncio.timeout(30):
        while not players.asked.get("reasoner"):
            await asyncio.sleep(0.05)
    await controller.cancel(failed.job_id)
    assert (await ended(engine, failed.job_id)).status is JobStatus.CANCELLED

    assert await controller.write_partial_report(failed.job_id)
    await wait_for_status(engine, failed.job_id, JobStatus.CANCELLED)

    report = await load_report(engine.db, failed.job_id)
    assert report is not None
    assert [citation.quote for citation in report.citations] == ["found a", "found b"]
    assert not await controller.write_partial_report(failed.job_id)


@pytest.mark.long
async def test_a_job_that_waits_to_fail_can_be_cancelled(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """T1 has halted it, and T2 may still run for minutes."""
    players.plan = FORK

    def part(asked: ReceivedRequest) -> ScriptedReply:
        if asked.task["arguments"]["query"] == "a":
            return ScriptedReply(status=401, error={"message": "no such key"})
        return ScriptedReply.of(extractor_script("found", 0.9)(asked), delay=40)

    players.parts["extractor"] = part
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.failed")

    with pytest.raises(BadInput, match="about to end"):
        await controller.pause(job_id)
    await controller.cancel(job_id)

    assert (await ended(engine, job_id)).status is JobStatus.CANCELLED


async def test_a_job_is_recorded_as_cancelled_though_it_is_cancelled_twice(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """By an update, and in Temporal while its calls are being stopped."""
    players.plan = TWO
    delay_extraction("a", 30, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.started")

    await controller.cancel(job_id)
    await engine.temporal.get_workflow_handle(job_id).cancel()

    assert (await ended(engine, job_id)).status is JobStatus.CANCELLED


@pytest.mark.long
async def test_a_job_that_is_about_to_be_reported_only_takes_no_change(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
    )
    delay_extraction("b", 20, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")
    await controller.cancel(job_id)
    await ended(engine, job_id)
    players.parts["synthesiser"] = lambda asked: ScriptedReply.of(
        players._synthesiser(asked), delay=2
    )
    await controller.write_partial_report(job_id)
    async with asyncio.timeout(30):
        while not players.asked.get("synthesiser"):
            await asyncio.sleep(0.05)

    with pytest.raises(BadInput, match="about to end"):
        await controller.steer(job_id, "Look elsewhere.")
    with pytest.raises(BadInput, match="about to end"):
        await controller.retry(job_id, ["T1"])
    job = await ended(engine, job_id)

    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)
    assert await guidance_of(engine.db, job_id) == ()


@pytest.mark.long
async def test_the_report_of_a_stopped_job_waits_for_credit_and_is_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
    )
    delay_extraction("b", 20, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.done")
    await controller.cancel(job_id)
    await ended(engine, job_id)
    players.parts["synthesiser"] = lambda _: ScriptedReply(
        status=402, error={"message": "pay first"}
    )
    await controller.write_partial_report(job_id)
    waiting = await engine.holdfast.wait(job_id, timedelta(seconds=30), or_paused=True)
    assert waiting.status is JobStatus.PAUSED
    assert "pay first" in waiting.message

    del players.parts["synthesiser"]
    await controller.resume(job_id)

    assert (await ended(engine, job_id)).status is JobStatus.CANCELLED
    assert await load_report(engine.db, job_id) is not None


@pytest.mark.long
async def test_guidance_that_reached_the_job_late_is_heeded_all_the_same(
    engine: RunningEngine,
    players: ScriptedRoles,
    tmp_path: Path,
    database_url: str,
    model: ScriptedModel,
    tools: ScriptedTools,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Temporal keeps the request until a worker comes; whoever asked had gone by then."""
    monkeypatch.setattr("holdfast.temporal.workflow_handle._ANSWER_TIMEOUT", timedelta(seconds=1))
    home = tmp_path / "other"
    home.mkdir()
    players.plan = TWO
    players.continuations = [plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a"))]
    fail_extractions(players, 1)
    async with running_engine(
        engine.temporal,
        database_url,
        home,
        model_url=model.url,
        tools_url=tools.url,
        polls=False,
    ) as idle:
        job_id = await idle.submit("Who?")
        with pytest.raises(ServiceDown, match="no worker answered"):
            await JobController(idle.holdfast, "dana").steer(job_id, "Look at the log books.")
        settings = idle.holdfast.settings

    async with (
        open_services(settings, database_url) as parts,
        build_worker(engine.temporal, parts, settings),
    ):
        await ended(engine, job_id)

    noted = await events_of_kind(engine, job_id, "job.steered")
    heeded = await guidance_of(engine.db, job_id)
    assert len(heeded) == len(noted)
    if noted:
        assert players.tasks(REPLANNER)[0]["guidance"] == list(heeded)


@pytest.mark.long
async def test_a_job_that_has_just_ended_says_so_and_not_that_temporal_lost_it(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    job_id = await engine.submit("Who?")
    before = await job_rows.load_job(engine.db, job_id)
    await ended(engine, job_id)
    await engine.temporal.get_workflow_handle(job_id).result()

    with pytest.raises(BadInput, match="has ended"):
        await controller._handle(before)


@pytest.mark.long
async def test_a_run_that_starts_after_the_end_leaves_the_job_shown_as_it_ended(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    players.plan = TWO
    done = await engine.run("Who?")
    handle = engine.temporal.get_workflow_handle(done.job_id)
    await handle.result()
    request = (await job_rows.load_job(engine.db, done.job_id)).request

    await start_workflow(engine.temporal, engine.holdfast.settings.task_queue, done.job_id, request)
    await engine.temporal.get_workflow_handle(done.job_id).result()

    shown = (await engine.temporal.get_workflow_handle(done.job_id).describe()).search_attributes
    assert shown["HoldfastStatus"] == ["done"]
    assert len(await job_queries.events_after(engine.db, done.job_id, 0)) > 0


@pytest.mark.long
async def test_a_job_is_paused_before_it_has_begun(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    job_id = await engine.submit("Who?", start_delay=timedelta(seconds=1))

    await controller.pause(job_id)
    paused = await engine.holdfast.show(job_id)
    await controller.resume(job_id)

    assert (paused.status, paused.tasks) == ("paused", ())
    assert (await ended(engine, job_id)).status is JobStatus.DONE


@pytest.mark.long
async def test_whatever_reaches_a_job_between_two_runs_is_done_or_refused(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """Each change of settings has a fresh run go on, while others ask for more."""
    players.plan = TWO
    delay_extraction("a", 1, players)
    job_id = await engine.submit("Who?", start_delay=timedelta(seconds=1))
    strategy = (await job_rows.load_job(engine.db, job_id)).request.strategy
    await controller.pause(job_id)

    for slots in (2, 4, 5, 6):
        told = await asyncio.gather(
            controller.resume(job_id, strategy.model_copy(update={"slots": slots})),
            *[controller.steer(job_id, f"{slots}.{n}") for n in range(6)],
            controller.pause(job_id),
            return_exceptions=True,
        )
        assert {type(each) for each in told} <= {type(None), BadInput}, told
    await asyncio.gather(controller.resume(job_id), return_exceptions=True)
    job = await ended(engine, job_id)

    assert job.status is JobStatus.DONE
    heeded = await guidance_of(engine.db, job_id)
    assert len(heeded) == len(await events_of_kind(engine, job_id, "job.steered"))


async def test_what_was_to_be_noted_as_the_job_was_cancelled_does_not_undo_its_end(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    delay_extraction("a", 30, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.started")
    await controller.cancel(job_id)
    job = await ended(engine, job_id)

    late = ControlOrder(
        job_id=job_id, epoch=job.epoch, key="paused-1", kind=ControlKind.PAUSED, by="holdfast"
    )
    await ControlActivities(engine.parts).record_control(late)

    assert (await job_rows.load_job(engine.db, job_id)).status is JobStatus.CANCELLED
    assert await events_of_kind(engine, job_id, "job.paused") == []


@pytest.mark.long
async def test_a_job_reopened_by_a_client_that_died_is_started_by_the_next(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    players.plan = TWO
    finds_only(players)
    failed = await engine.run("Who?", max_replans_per_task="0")
    await wait_until_closed(engine.temporal, failed.job_id)
    async with job_rows.unchanged_job(
        engine.db, await job_rows.load_job(engine.db, failed.job_id)
    ) as write:
        await job_control_rows.rerun_tasks(write, ("T1",))
        await job_control_rows.reopen_job(write)
    finds_only(players, "a")

    with pytest.raises(ServiceDown, match=f"holdfast resume {failed.job_id}"):
        await controller.pause(failed.job_id)
    with pytest.raises(ServiceDown, match=f"holdfast resume {failed.job_id}"):
        await engine.holdfast.check_workflow_is_open(failed.job_id)
    await controller.resume(failed.job_id)
    job = await ended(engine, failed.job_id)

    assert job.status is JobStatus.DONE
    assert [task.attempt for task in (await engine.holdfast.show(job.id)).tasks] == [2, 1]


@pytest.mark.long
async def test_a_task_is_not_retried_without_the_tool_calls_it_takes(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles
) -> None:
    """It would lose what it had found, and the job its answer."""
    players.plan = TWO
    done = await engine.run("Who?", max_tool_calls="1")

    with pytest.raises(BadInput, match="take 1 tool calls, and 0 of 1 are left"):
        await controller.retry(done.job_id, ["T1"])

    after = await engine.holdfast.show(done.job_id)
    assert (after.status, after.answer) == ("done", done.answer)
    assert (await controller.retry(done.job_id, ["T2"])).rerun == ("T2",)
    assert (await ended(engine, done.job_id)).status is JobStatus.DONE
