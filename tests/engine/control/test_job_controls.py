"""Tests for pausing, resuming, cancelling, retrying and steering a job, and for the record of each
control."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadInput, NotFound, ServiceDown
from holdfast.models.jobs.job_record import JobStatus, StopReason
from holdfast.models.views.job_views import EventView
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.roles.planning.planner import PLANNER
from holdfast.roles.planning.replanner import REPLANNER
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.engine.control.test_job_endings import wait_for_event, workflow_deletion
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script, verifier_answer
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

THREE = plan(
    lookup_task("T1", query="a"), lookup_task("T2", "T1", query="b"), final_task("T3", "T2")
)


@pytest.fixture
def controller(engine: RunningEngine) -> JobController:
    return JobController(engine.holdfast, "dana")


def delay_extraction(query: str, seconds: float, players: ScriptedRoles) -> None:
    """Let the extraction of this query's answer take so long."""

    def part(asked: ReceivedRequest) -> ScriptedReply:
        is_it = asked.task["arguments"]["query"] == query
        return ScriptedReply.of(
            extractor_script("found", 0.9)(asked), delay=seconds if is_it else 0
        )

    players.parts["extractor"] = part


async def start_delayed_job(
    engine: RunningEngine, players: ScriptedRoles, query: str, seconds: float, *, until: str
) -> str:
    """A job of three tasks, one of which takes so long, once its log has such an entry."""
    players.plan = THREE
    delay_extraction(query, seconds, players)
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, until)
    return job_id


def fail_extractions(players: ScriptedRoles, times: int) -> None:
    """Let the first extractions find nothing."""
    left = [times]

    def part(asked: ReceivedRequest) -> object:
        left[0] -= 1
        return extractor_script(None if left[0] >= 0 else "found", 0.9)(asked)

    players.parts["extractor"] = part


async def events_of_kind(engine: RunningEngine, job_id: str, kind: str) -> list[EventView]:
    return [e for e in await job_queries.events_after(engine.db, job_id, 0) if e.kind == kind]


async def wait_for_status(engine: RunningEngine, job_id: str, *statuses: JobStatus) -> None:
    async with asyncio.timeout(30):
        while (await job_rows.load_job(engine.db, job_id)).status not in statuses:
            await asyncio.sleep(0.05)


async def test_a_paused_job_starts_nothing_more_and_goes_on_where_it_stopped(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    job_id = await start_delayed_job(engine, players, "a", 1, until="task.started")

    await controller.pause(job_id)
    await wait_for_event(engine, job_id, "task.done")
    paused = await engine.holdfast.show(job_id)
    with pytest.raises(BadInput, match="paused already"):
        await controller.pause(job_id)
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert paused.status == "paused"
    assert [task.status for task in paused.tasks] == ["done", "pending", "pending"]
    assert job.status is JobStatus.DONE
    assert (await events_of_kind(engine, job_id, "job.paused"))[0].facts == {"by": "dana"}
    assert (await events_of_kind(engine, job_id, "job.resumed"))[0].facts == {"by": "dana"}
    with pytest.raises(BadInput, match="is done"):
        await controller.resume(job_id)


@pytest.mark.conformance("WAVE-04")
async def test_an_exhausted_quota_pauses_the_job_and_resuming_asks_only_what_was_refused(
    engine: RunningEngine,
    controller: JobController,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    players.plan, tools.answers = THREE, lambda argument: f"found {argument}"
    has_credit = False

    def part(asked: ReceivedRequest) -> object:
        if asked.task["arguments"]["query"] == "b" and not has_credit:
            return ScriptedReply(
                status=429, error={"message": "no credit", "code": "insufficient_quota"}
            )
        return extractor_script("found", 0.9)(asked)

    players.parts["extractor"] = part
    job_id = await engine.submit("Who?")
    await wait_for_status(engine, job_id, JobStatus.PAUSED)
    paused = await engine.holdfast.show(job_id)
    asked_before = model.count

    has_credit = True
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert "no credit" in paused.message
    assert [task.status for task in paused.tasks] == ["done", "pending", "pending"]
    assert job.status is JobStatus.DONE
    # The extraction of T2, the deduction of T3, the report.
    assert model.count - asked_before == 3
    assert len(tools.called) == 2
    [note] = await events_of_kind(engine, job_id, "job.paused")
    assert note.facts["by"] == "holdfast"


@pytest.mark.long
async def test_an_exhausted_quota_while_planning_pauses_too(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = THREE, lambda argument: f"found {argument}"
    players.parts["planner"] = lambda _: ScriptedReply(status=402, error={"message": "pay first"})
    job_id = await engine.submit("Who?")
    await wait_for_status(engine, job_id, JobStatus.PAUSED)

    del players.parts["planner"]
    await controller.resume(job_id)

    assert (await engine.holdfast.wait(job_id, timedelta(seconds=30))).status is JobStatus.DONE


@pytest.mark.conformance("WAVE-03")
@pytest.mark.long
async def test_retrying_runs_the_named_task_and_what_depends_on_it_and_nothing_else(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(
        lookup_task("T1", query="a"),
        lookup_task("T2", query="b"),
        lookup_task("T3", "T1", query="c"),
        final_task("T4", "T2", "T3"),
    )
    tools.answers = lambda argument: f"found {argument}"
    before = await engine.run("Who?")
    job_id = before.job_id
    called = len(tools.called)
    players.parts["extractor"] = extractor_script("another", 0.9)

    shown = await controller.preview_retry(job_id, ["T3"])
    done = await controller.retry(job_id, ["T3"])
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))
    after = await engine.holdfast.show(job_id)

    assert shown == done
    assert (done.rerun, done.kept) == (("T3", "T4"), ("T1", "T2"))
    assert job.status is JobStatus.DONE
    assert len(tools.called) == called + 1
    assert {task.id: task.attempt for task in after.tasks} == {"T1": 1, "T2": 1, "T3": 2, "T4": 2}
    assert "another" in str(after.answer)
    assert after.answer != before.answer
    report = await load_report(engine.db, job_id)
    assert report is not None
    assert report.answer == after.answer
    [note] = await events_of_kind(engine, job_id, "job.retried")
    assert note.facts == {"by": "dana", "tasks": ["T3"], "rerun": ["T3", "T4"]}


@pytest.mark.conformance("WAVE-03")
@pytest.mark.long
async def test_a_task_of_a_running_job_can_be_retried(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    job_id = await start_delayed_job(engine, players, "b", 1, until="task.done")

    with pytest.raises(BadInput, match="T2 runs now"):
        await controller.retry(job_id, ["T1"])
    await controller.pause(job_id)
    async with asyncio.timeout(30):
        while len(await events_of_kind(engine, job_id, "task.done")) < 2:
            await asyncio.sleep(0.05)
    chosen = await controller.retry(job_id, ["T1"])
    await controller.resume(job_id)
    await engine.holdfast.wait(job_id, timedelta(seconds=30))
    after = await engine.holdfast.show(job_id)

    assert chosen.rerun == ("T1", "T2")
    assert after.status == "done"
    assert [task.attempt for task in after.tasks] == [2, 2, 1]
    assert len(tools.called) == 4


@pytest.mark.long
async def test_what_cannot_be_retried_is_refused_with_the_way_out(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a"))]
    tools.answers = lambda argument: f"found {argument}"
    fail_extractions(players, 1)
    job = await engine.run("Who?")

    with pytest.raises(NotFound, match="no task 'T9'"):
        await controller.retry(job.job_id, ["T9"])
    with pytest.raises(BadInput, match=r"T1 was replaced.*retry T1a T2a instead"):
        await controller.retry(job.job_id, ["T1"])


@pytest.mark.long
async def test_a_failed_job_is_resumed_with_all_it_had_and_other_settings(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan, tools.answers = THREE, lambda argument: f"found {argument}"
    delay_extraction("x", 0, players)
    players.parts["extractor"] = lambda asked: extractor_script(
        "found" if asked.task["arguments"]["query"] == "a" else None, 0.9
    )(asked)
    failed = await engine.run("Who?", max_replans_per_task="0")
    players.parts["extractor"] = extractor_script("found", 0.9)
    strategy = with_settings(preset("kpi-chain").strategy, {"max_replans_per_task": "1"})

    await controller.resume(failed.job_id, strategy)
    job = await engine.holdfast.wait(failed.job_id, timedelta(seconds=30))
    after = await engine.holdfast.show(failed.job_id)

    assert (failed.status, failed.stop_reason) == ("failed", "replans_exhausted")
    assert job.status is JobStatus.DONE
    assert [task.attempt for task in after.tasks] == [1, 2, 1]
    assert players.count(PLANNER) == 1
    assert (await job_rows.load_job(engine.db, job.id)).request.strategy == strategy


@pytest.mark.long
async def test_a_job_whose_plan_was_refused_is_planned_anew_when_it_is_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    failed = await engine.run("Who?")
    players.plan = THREE

    await controller.resume(failed.job_id)
    job = await engine.holdfast.wait(failed.job_id, timedelta(seconds=30))

    assert failed.stop_reason == "planning_failed"
    assert job.status is JobStatus.DONE


@pytest.mark.long
async def test_a_cancelled_job_stops_its_calls_can_be_reported_and_can_be_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    job_id = await start_delayed_job(engine, players, "b", 20, until="task.done")

    await controller.cancel(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=20))
    assert (job.status, job.stop_reason) == (JobStatus.CANCELLED, StopReason.CANCELLED)
    assert {call.status for call in await job_queries.job_calls(engine.db, job_id)} == {
        "done",
        "unknown",
    }

    await controller.write_partial_report(job_id)
    await wait_for_status(engine, job_id, JobStatus.CANCELLED)
    report = await load_report(engine.db, job_id)
    assert report is not None
    assert [citation.quote for citation in report.citations] == ["found a"]
    assert any(gap.startswith("Not found: ") for gap in report.gaps)

    delay_extraction("b", 0, players)
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))
    assert job.status is JobStatus.DONE
    after = await engine.holdfast.show(job_id)
    assert [task.attempt for task in after.tasks] == [1, 1, 1]
    assert len(tools.called) == 2
    started = [each.task for each in await events_of_kind(engine, job_id, "task.started")]
    assert sorted(started) == ["T1", "T2", "T3"]
    assert (await events_of_kind(engine, job_id, "job.cancelling"))[0].facts["by"] == "dana"


@pytest.mark.long
async def test_a_job_that_was_cancelled_while_it_was_verified_is_verified_when_it_is_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(agent_task("T1"))
    players.parts["verifier"] = lambda _: ScriptedReply.of(verifier_answer(0.9), delay=60)
    job_id = await engine.submit("Who?", preset_name="vmao", servers=("lab",))
    async with asyncio.timeout(30):
        while not players.count(VERIFIER):
            await asyncio.sleep(0.05)

    await controller.cancel(job_id)
    cancelled = await engine.holdfast.wait(job_id, timedelta(seconds=20))
    players.parts["verifier"] = lambda _: verifier_answer(0.9)
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert cancelled.status is JobStatus.CANCELLED
    assert (job.status, job.stop_reason) == (JobStatus.DONE, StopReason.ANSWERED)
    assert [each.task for each in await events_of_kind(engine, job_id, "task.started")].count(
        "T1"
    ) == 1, "no finished task runs again"


async def test_a_result_that_is_being_verified_is_not_retried_before_its_verdict(
    engine: RunningEngine,
    controller: JobController,
    players: ScriptedRoles,
    tools: ScriptedTools,
    model: ScriptedModel,
) -> None:
    """The verdict would be of a result that the retry has deleted, and could end the job."""
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(agent_task("T1"))
    players.parts["verifier"] = lambda _: ScriptedReply.of(verifier_answer(0.9), delay=60)
    job_id = await engine.submit("Who?", preset_name="vmao", servers=("lab",))
    async with asyncio.timeout(30):
        while not players.count(VERIFIER):
            await asyncio.sleep(0.05)

    with pytest.raises(BadInput, match="are being verified; retry in a moment"):
        await controller.retry(job_id, ["T1"])
    model.release()
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert (job.status, job.stop_reason) == (JobStatus.DONE, StopReason.ANSWERED)
    assert [task.attempt for task in (await engine.holdfast.show(job_id)).tasks][:1] == [1]


async def test_a_resumed_job_pays_for_no_answer_of_its_verification_again(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    """It was cancelled while its report was written."""
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(agent_task("T1"))
    writes = players._synthesiser
    players.parts["synthesiser"] = lambda asked: ScriptedReply.of(writes(asked), delay=240)
    job_id = await engine.submit("Who?", preset_name="vmao", servers=("lab",))
    async with asyncio.timeout(240):
        while not players.count(SYNTHESISER):
            await asyncio.sleep(0.05)

    await controller.cancel(job_id)
    cancelled = await engine.holdfast.wait(job_id, timedelta(seconds=60))
    del players.parts["synthesiser"]
    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=60))

    assert (cancelled.status, job.status) == (JobStatus.CANCELLED, JobStatus.DONE)
    assert (players.count(VERIFIER), players.count(SYNTHESISER)) == (1, 2)


async def test_a_report_that_was_refused_is_written_anew_when_its_job_is_resumed(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(agent_task("T1"))
    unknown = [{"text": "It is so.", "evidence": ["E99"]}]
    players.parts["synthesiser"] = lambda _: {"summary": unknown}
    refused = await engine.run("Who?", preset_name="vmao", servers=("lab",))
    del players.parts["synthesiser"]

    await controller.resume(refused.job_id)
    job = await engine.holdfast.wait(refused.job_id, timedelta(seconds=240))

    assert (refused.status, refused.stop_reason) == ("failed", "report_refused")
    assert job.status is JobStatus.DONE
    assert players.count(VERIFIER) == 1


async def test_the_next_planning_sees_what_a_person_said(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    players.continuations = [plan(lookup_task("T1a", query="b"), final_task("T2a", "T1a"))]
    tools.answers = lambda argument: f"found {argument}"
    left = [1]

    def part(asked: ReceivedRequest) -> ScriptedReply:
        left[0] -= 1
        value = None if left[0] >= 0 else "found"
        return ScriptedReply.of(extractor_script(value, 0.9)(asked), delay=1 if left[0] >= 0 else 0)

    players.parts["extractor"] = part
    job_id = await engine.submit("Who?")
    await wait_for_event(engine, job_id, "task.started")

    await controller.steer(job_id, "Look at the lighthouse's own records.")
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert job.status is JobStatus.DONE
    assert players.tasks(PLANNER)[0]["guidance"] == []
    assert players.tasks(REPLANNER)[0]["guidance"] == ["Look at the lighthouse's own records."]
    handle = engine.temporal.get_workflow_handle(job_id)
    assert "lighthouse" not in (await handle.fetch_history()).to_json()
    with pytest.raises(BadInput, match="is done"):
        await controller.steer(job_id, "too late")


@pytest.mark.conformance("BEY-03")
@pytest.mark.long
async def test_a_job_whose_temporal_data_are_gone_continues_from_postgresql_alone(
    engine: RunningEngine,
    controller: JobController,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    job_id = await start_delayed_job(engine, players, "b", 3, until="task.done")
    await engine.temporal.get_workflow_handle(job_id).terminate("the data are lost")
    await engine.temporal.workflow_service.delete_workflow_execution(
        workflow_deletion(engine, job_id)
    )
    with pytest.raises(ServiceDown, match="holdfast resume"):
        await controller.pause(job_id)
    delay_extraction("b", 0, players)
    epoch = (await job_rows.load_job(engine.db, job_id)).epoch

    await controller.resume(job_id)
    job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert job.status is JobStatus.DONE
    assert job.epoch > epoch
    # What was in flight is asked again; the plan and T1 are not.
    assert players.count(PLANNER) == 1
    assert sum(turn["arguments"]["query"] == "a" for turn in _extractions(players)) == 1


def _extractions(players: ScriptedRoles) -> list[dict]:
    return [asked.task for asked in players.asked["extractor"]]


@pytest.mark.long
async def test_a_job_without_workers_says_so_and_is_cancelled_once_there_is_one(
    engine: RunningEngine,
    players: ScriptedRoles,
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.temporal.workflow_handle._ANSWER_TIMEOUT", timedelta(seconds=1))
    home = tmp_path / "other"
    home.mkdir()
    async with running_engine(engine.temporal, database_url, home, polls=False) as idle:
        controller = JobController(idle.holdfast, "dana")
        job_id = await idle.submit("Who?", model="extractive")
        with pytest.raises(ServiceDown, match="no worker answered"):
            await controller.pause(job_id)
        await controller.cancel(job_id)
        settings = idle.holdfast.settings

    from holdfast.worker import build_worker, open_services

    async with (
        open_services(settings, database_url) as parts,
        build_worker(engine.temporal, parts, settings),
    ):
        job = await engine.holdfast.wait(job_id, timedelta(seconds=30))

    assert job.status is JobStatus.CANCELLED


@pytest.mark.conformance("REL-08")
async def test_the_settings_of_a_resumed_job_hold_from_there_on(
    engine: RunningEngine, controller: JobController, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    job_id = await start_delayed_job(engine, players, "a", 1, until="task.started")
    await controller.pause(job_id)
    await wait_for_event(engine, job_id, "task.done")
    changes = {"confidence_threshold": "0.95", "max_replans_per_task": "0"}

    await controller.resume(job_id, with_settings(preset("kpi-chain").strategy, changes))
    await engine.holdfast.wait(job_id, timedelta(seconds=30))
    after = await engine.holdfast.show(job_id)

    # Both were found with 0.9: the first while 0.7 was enough.
    assert [task.status for task in after.tasks] == ["done", "failed", "cancelled"]
    assert after.stop_reason == "replans_exhausted"
