"""Tests that jobs are compared, and that an update runs only what depends on changed sources."""

from datetime import timedelta

import pytest

from holdfast.models.errors import NotFound
from holdfast.models.jobs.job_record import JobStatus
from holdfast.planning.reports.claim_matching import ClaimChange
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_comparison import JobComparison, SourceChange, TaskChange, compare_jobs
from holdfast.records.job_forking import fork_job
from holdfast.records.job_update import JobUpdate, update_job
from holdfast.storage.evidence.evidence_rows import load_report
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LONG = timedelta(seconds=240)


@pytest.fixture(autouse=True)
def found(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
    )


@pytest.mark.conformance("REC-01")
async def test_two_jobs_are_compared_by_task_claim_source_and_cost(
    engine: RunningEngine, tools: ScriptedTools
) -> None:
    first = (await engine.run("Who?")).job_id
    tools.answers = lambda argument: f"found another {argument}"
    forked = await fork_job(
        engine.holdfast, first, ForkSubmission(tasks=("T2",)), owner="", by="dana"
    )
    await engine.holdfast.wait(forked.job_id, LONG)

    compared = await compare_jobs(engine.holdfast, first, forked.job_id)
    with_itself = await compare_jobs(engine.holdfast, first, first)

    by_task = {task.first: task.change for task in compared.tasks}
    assert by_task["T1"] is TaskChange.SAME
    assert compared.forked == "the second job is a fork of the first"
    assert compared.second.model_calls < compared.first.model_calls
    assert compared.second.repeated_calls > 0
    assert ClaimChange.OTHER_SUPPORT in {pair.change for pair in compared.claims}
    assert SourceChange.BOTH in {source.change for source in compared.sources}
    assert {pair.change for pair in with_itself.claims} == {ClaimChange.SAME}
    assert {task.change for task in with_itself.tasks} == {TaskChange.SAME}
    assert with_itself.has_same_answer
    assert JobComparison.model_validate_json(compared.model_dump_json(exclude_computed_fields=True))
    with pytest.raises(NotFound):
        await compare_jobs(engine.holdfast, first, "job-none")


@pytest.mark.conformance("REC-02")
async def test_an_update_runs_what_rests_on_a_changed_source_alone(
    engine: RunningEngine, tools: ScriptedTools
) -> None:
    first = (await engine.run("Who?")).job_id
    unchanged = await update(engine, first)
    recent = await update(engine, first, older_than=timedelta(days=30))
    tools.answers = lambda argument: "other news" if argument == "b" else f"found {argument}"
    called = len(tools.called)

    updated = await update(engine, first)

    assert (unchanged.job_id, unchanged.changed) == (None, ())
    assert (recent.is_recent, recent.job_id) == (True, None)
    assert updated.job_id is not None
    assert {check.quote for check in updated.changed} == {"found b"}
    assert updated.fork is not None
    assert [task.task for task in updated.fork.rerun] == ["T2", "T3"]
    job = await engine.holdfast.wait(updated.job_id, LONG)
    assert job.status is JobStatus.DONE
    sent = [argument for _, argument in tools.called[called:]]
    assert sent.count("b") == 2  # read again by the recheck, and by the task
    assert sent.count("a") == 1
    report = await load_report(engine.db, updated.job_id)
    assert report is not None
    assert {each.quote for each in report.citations} == {"found a", "other news"}


async def update(
    engine: RunningEngine, job_id: str, older_than: timedelta | None = None
) -> JobUpdate:
    return await update_job(engine.holdfast, job_id, owner="", by="dana", older_than=older_than)
