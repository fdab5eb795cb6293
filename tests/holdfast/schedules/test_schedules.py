"""Tests that schedules ask again, say what changed, and outlive Temporal's data.

Temporal is told to run a schedule now: no test waits for a clock.
"""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.access.api_keys import create_key, rotate_key
from holdfast.client import Holdfast
from holdfast.corpus.folder_ingestion import ingest_folder
from holdfast.corpus.folder_rereading import FolderReading
from holdfast.jobs.erasure import erase_owner
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadInput, NotFound, ServiceDown
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import (
    Schedule,
    ScheduledRun,
    ScheduledWork,
    ScheduleStatus,
    ScheduleTerms,
)
from holdfast.models.schedules.schedule_orders import RunScheduleOrder
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.records.job_update import JobUpdate
from holdfast.schedules.schedule_management import (
    list_schedules,
    run_now,
    runs_of_schedule,
    schedule_question,
    schedule_update,
    set_status,
    show_schedule,
)
from holdfast.schedules.scheduled_runs import ScheduledRuns
from holdfast.services.worker.schedule_upkeep import ScheduleUpkeep
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs.job_removal import count_rows_of_job, delete_job
from holdfast.storage.jobs.job_rows import find_job_owner
from holdfast.storage.schedules.schedule_rows import (
    load_schedules,
    open_schedules,
    store_schedule,
)
from holdfast.storage.schedules.schedule_run_rows import load_runs
from holdfast.temporal.job_schedules import delete_temporal_schedule, is_paused_in_temporal
from holdfast.tools.web.http_client.address_rules import AllowedHosts
from holdfast.tools.web.http_client.http_exchange import HttpClient
from holdfast.webhooks.webhook_management import add_webhook
from holdfast.webhooks.webhook_sender import WebhookSender
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.webhook_receiver import WebhookReceiver
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.conformance("REC-06"),
]

WEEKLY = ScheduleTerms(times="weekly on monday 08:00", time_zone="Europe/Berlin")
LONG_S = 240
REQUEST = JobRequest(
    question="Who?",
    preset="kpi-chain",
    model="scripted",
    strategy=preset("kpi-chain").strategy,
    owner="maria",
)


@pytest.fixture(autouse=True)
def found(tools: ScriptedTools, players: ScriptedRoles) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.plan = plan(
        lookup_task("T1", query="a"), lookup_task("T2", query="b"), final_task("T3", "T1", "T2")
    )


async def runs_when(
    engine: RunningEngine, schedule: str, condition: Callable[[list[ScheduledRun]], bool]
) -> list[ScheduledRun]:
    """The runs of the schedule, the oldest first, as soon as the condition holds."""
    async with asyncio.timeout(LONG_S):
        while True:
            runs = await runs_of_schedule(engine.holdfast, schedule, None, limit=100)
            if condition(runs):
                return runs[::-1]
            await asyncio.sleep(0.1)


async def run_later(engine: RunningEngine, schedule: str, owner: str | None) -> None:
    """Run the schedule in another second than before: Temporal names runs by their second."""
    runs = await runs_of_schedule(engine.holdfast, schedule, None, limit=1)
    while runs and datetime.now(UTC) < runs[0].begun_at + timedelta(seconds=2):
        await asyncio.sleep(0.1)
    await run_now(engine.holdfast, schedule, owner)


def ended(count: int) -> Callable[[list[ScheduledRun]], bool]:
    """The condition that so many runs are there, and that their jobs have ended."""
    return lambda runs: (
        len(runs) == count and all(each.job_id is None or each.status == "done" for each in runs)
    )


async def test_each_run_is_a_job_of_the_owner_and_its_end_says_what_changed(
    engine: RunningEngine, tools: ScriptedTools, tmp_path: Path
) -> None:
    parallel = WEEKLY.model_copy(update={"overlap": OverlapPolicy.PARALLEL})
    made = await schedule_question(engine.holdfast, REQUEST, parallel)
    with WebhookReceiver() as receiver:
        config = tmp_path / "webhooks.toml"
        config.write_text(f'[webhooks]\nallow_hosts = ["{receiver.host}"]\n', "utf-8")
        await add_webhook(engine.db, config, url=receiver.url, owner="maria")
        await run_later(engine, made.id, "maria")
        await runs_when(engine, made.id, ended(1))
        tools.answers = lambda argument: "other news" if argument == "b" else f"found {argument}"
        await run_later(engine, made.id, "maria")
        first, second = await runs_when(engine, made.id, ended(2))
        sender = WebhookSender(engine.db, AllowedHosts.of((receiver.host,)))
        async with HttpClient(sender.allowed, "test", timeout_s=30) as client:
            await sender.send_due(client)
    data = [json.loads(message.body)["data"] for message in receiver.messages]
    told = [each for each in data if each["job_id"] == second.job_id]

    assert made.next_run is not None
    assert (made.next_run.weekday(), made.next_run > datetime.now(UTC)) == (0, True)
    assert first.changes is None
    assert second.changes is not None
    assert second.changes.compared_job == first.job_id
    assert second.changes.claims["new"] + second.changes.claims["other_support"] > 0
    assert second.job_id is not None
    assert (await find_job_owner(engine.db, second.job_id)) == "maria"
    assert [each["changes"] for each in told] == [second.changes.model_dump(mode="json")]
    assert told[0]["schedule"] == made.id


async def test_a_run_while_the_job_before_is_open_is_skipped(
    idle_engine: RunningEngine, temporal: Client
) -> None:
    # No worker polls, so the first run stays open.
    made = await schedule_question(idle_engine.holdfast, REQUEST, WEEKLY)
    handle = temporal.get_schedule_handle(made.id)
    for _ in range(2):
        await run_now(idle_engine.holdfast, made.id, None)

    async with asyncio.timeout(LONG_S):
        while not (info := (await handle.describe()).info).num_actions_skipped_overlap:
            await asyncio.sleep(0.1)
    await delete_temporal_schedule(temporal, made.id)

    assert (len(info.running_actions), info.num_actions) == (1, 1)


async def test_an_update_runs_only_when_a_source_changed_and_then_goes_on_from_the_update(
    engine: RunningEngine, tools: ScriptedTools
) -> None:
    job_id = (await engine.run("Who?")).job_id
    terms = WEEKLY.model_copy(update={"overlap": OverlapPolicy.PARALLEL})
    made = await schedule_update(engine.holdfast, job_id, terms, owner="maria")

    await run_later(engine, made.id, None)
    await runs_when(engine, made.id, ended(1))
    for word in ("news", "later events"):
        tools.answers = lambda argument, word=word: word if argument == "b" else f"found {argument}"
        await run_later(engine, made.id, None)
        await runs_when(engine, made.id, ended(2 if word == "news" else 3))
    quiet, second, third = await runs_when(engine, made.id, ended(3))

    assert (quiet.job_id, quiet.note) == (None, "no citation changed, so the report stays")
    assert second.changes is not None
    assert third.changes is not None
    assert second.changes.compared_job == job_id
    assert third.changes.compared_job == second.job_id


async def test_an_empty_temporal_gets_the_schedules_back_and_makes_up_for_missed_runs(
    engine: RunningEngine,
) -> None:
    hourly = ScheduleTerms(times="every 1h", catch_up=timedelta(hours=6))
    paused = await schedule_question(engine.holdfast, REQUEST, WEEKLY)
    await set_status(engine.holdfast, paused.id, None, ScheduleStatus.PAUSED)
    made = await schedule_question(engine.holdfast, REQUEST, hourly)
    ended_one = await schedule_question(engine.holdfast, REQUEST, WEEKLY)
    await set_status(engine.holdfast, ended_one.id, None, ScheduleStatus.ENDED)
    for each in (paused, made):
        await delete_temporal_schedule(engine.temporal, each.id)
    # The schedule is three hours old, and Temporal lost it at once.
    await age(engine, made.id, timedelta(hours=3))
    upkeep = ScheduleUpkeep(engine.temporal, engine.db, engine.holdfast.settings.task_queue)

    await upkeep.compare_all()
    await upkeep.compare_all()

    temporal = engine.temporal
    states = [await is_paused_in_temporal(temporal, each.id) for each in (paused, made, ended_one)]
    assert states == [True, False, None]
    runs = await runs_when(engine, made.id, lambda runs: len(runs) > 0)
    # `skip` begins the first of the missed runs, and the others were due while its job was open.
    assert runs[0].job_id is not None
    views = await list_schedules(engine.holdfast, None)
    assert views[-1].id == ended_one.id
    assert {each.id: each.status.value for each in views} == {
        made.id: "active",
        paused.id: "paused",
        ended_one.id: "ended",
    }


async def age(engine: RunningEngine, schedule: str, by: timedelta) -> None:
    statement = (
        "update schedules set created_at = created_at - :by, continued_at = continued_at - :by"
    )
    async with engine.db.writing() as connection:
        await connection.execute(text(f"{statement} where id = :id"), {"by": by, "id": schedule})


@pytest.mark.long
async def test_the_last_run_ends_a_schedule_and_an_ended_one_stays_ended(
    engine: RunningEngine,
) -> None:
    once = WEEKLY.model_copy(update={"runs": 1})
    made = await schedule_question(engine.holdfast, REQUEST, once)
    await run_later(engine, made.id, None)
    await runs_when(engine, made.id, ended(1))

    async with asyncio.timeout(LONG_S):
        while (view := await show_schedule(engine.holdfast, made.id, None)).status == "active":
            await asyncio.sleep(0.1)

    assert (view.status, view.note) == (ScheduleStatus.ENDED, "the schedule had its 1 runs")
    with pytest.raises(BadInput, match="has ended"):
        await set_status(engine.holdfast, made.id, None, ScheduleStatus.ACTIVE)


@pytest.mark.long
async def test_the_same_run_submits_one_job_and_an_erased_schedule_none(
    engine: RunningEngine,
) -> None:
    made = await schedule_question(engine.holdfast, REQUEST, WEEKLY)
    order = RunScheduleOrder(schedule_id=made.id, run=f"{made.id}-now")
    runs = ScheduledRuns(engine.holdfast.settings, engine.db)

    first = await runs.begin(engine.temporal, order)
    again = await runs.begin(engine.temporal, order)
    assert first.job_id is not None
    await engine.holdfast.wait(first.job_id, timedelta(seconds=LONG_S))
    receipt = await erase_owner(engine.holdfast, "maria", by="admin")
    gone = await runs.begin(engine.temporal, RunScheduleOrder(schedule_id=made.id, run="later"))

    assert again == first
    assert receipt.rows["schedules"] == 1
    assert gone.job_id is None
    assert await load_schedules(engine.db, None) == []
    assert await load_runs(engine.db, made.id, 9) == []
    assert await is_paused_in_temporal(engine.temporal, made.id) is None


async def begin(engine: RunningEngine, schedule: str, run: str) -> str | None:
    """Begin the run as a worker does; return its job."""
    order = RunScheduleOrder(schedule_id=schedule, run=run)
    runs = ScheduledRuns(engine.holdfast.settings, engine.db)
    return (await runs.begin(engine.temporal, order)).job_id


async def test_a_last_run_that_was_interrupted_ends_its_schedule_when_it_is_tried_again(
    idle_engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_answer(*_: object) -> None:
        raise ServiceDown("no answer")

    once = WEEKLY.model_copy(update={"runs": 1})
    made = await schedule_question(idle_engine.holdfast, REQUEST, once)
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.client.start_workflow", no_answer)
        with pytest.raises(ServiceDown):
            await begin(idle_engine, made.id, "first")

    assert await begin(idle_engine, made.id, "first") is not None
    assert await begin(idle_engine, made.id, "second") is None
    assert (await show_schedule(idle_engine.holdfast, made.id, None)).status == "ended"


async def test_runs_at_the_same_time_are_no_more_than_the_schedule_may_have(
    idle_engine: RunningEngine,
) -> None:
    terms = WEEKLY.model_copy(update={"runs": 2, "overlap": OverlapPolicy.PARALLEL})
    made = await schedule_question(idle_engine.holdfast, REQUEST, terms)

    begun = await asyncio.gather(*(begin(idle_engine, made.id, f"run-{n}") for n in range(5)))

    runs = await load_runs(idle_engine.db, made.id, 9)
    assert {each.job_id for each in runs} == {each for each in begun if each is not None}
    assert len(runs) == 2
    assert (await show_schedule(idle_engine.holdfast, made.id, None)).status == "ended"


async def test_a_run_counts_after_its_job_was_removed(idle_engine: RunningEngine) -> None:
    twice = WEEKLY.model_copy(update={"runs": 2})
    made = await schedule_question(idle_engine.holdfast, REQUEST, twice)
    first = await begin(idle_engine, made.id, "first")
    assert first is not None
    changed = """update schedule_runs set changes = '{"in_words": "2 claims are new"}'"""
    async with idle_engine.db.writing() as connection:
        await connection.execute(text(changed.replace(":", r"\:")))
        counted = await count_rows_of_job(connection, first)
        await delete_job(connection, first)

    assert "schedule_runs" not in counted
    assert await begin(idle_engine, made.id, "first") is None
    assert await begin(idle_engine, made.id, "second") is not None
    assert await begin(idle_engine, made.id, "third") is None
    removed = (await load_runs(idle_engine.db, made.id, 9))[-1]
    assert (removed.job_id, removed.note, removed.changes) == (None, "its job was removed", None)
    assert (await show_schedule(idle_engine.holdfast, made.id, None)).status == "ended"


async def test_a_schedule_that_cannot_be_compared_holds_up_no_other(
    idle_engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        made = await schedule_question(idle_engine.holdfast, REQUEST, WEEKLY)
        await delete_temporal_schedule(idle_engine.temporal, made.id)
    broken, other = [each.id for each in await open_schedules(idle_engine.db)]

    async def answers_for_the_other(temporal: Client, schedule: str) -> bool | None:
        if schedule == broken:
            raise ServiceDown("no answer")
        return await is_paused_in_temporal(temporal, schedule)

    of_upkeep = "holdfast.services.worker.schedule_upkeep.is_paused_in_temporal"
    monkeypatch.setattr(of_upkeep, answers_for_the_other)
    await ScheduleUpkeep(idle_engine.temporal, idle_engine.db, "queue").compare_all()

    assert await is_paused_in_temporal(idle_engine.temporal, broken) is None
    assert await is_paused_in_temporal(idle_engine.temporal, other) is False
    await delete_temporal_schedule(idle_engine.temporal, other)


async def test_a_run_counts_towards_the_newest_of_rotated_keys(
    idle_engine: RunningEngine,
) -> None:
    db = idle_engine.db
    old = await create_key(db, name="laptop", owner="maria", scopes=[Scope.ASK], days=9, by="admin")
    made = await schedule_question(idle_engine.holdfast, REQUEST, WEEKLY, key_id=old.details.id)
    new = await rotate_key(db, old.details.id, overlap_hours=0, by="admin")

    job_id = await begin(idle_engine, made.id, "first")

    async with db.reading() as connection:
        of_job = text("select key_id from jobs where id = :id")
        key_id = (await connection.execute(of_job, {"id": job_id})).scalar_one()
    assert key_id == new.details.id
    await delete_temporal_schedule(idle_engine.temporal, made.id)


@pytest.mark.parametrize("scope", [None, Scope.ASK, Scope.ADMIN])
async def test_only_schedules_of_operators_read_folders_again(
    idle_engine: RunningEngine, tmp_path: Path, scope: Scope | None
) -> None:
    db, file = idle_engine.db, tmp_path / "a.md"
    file.write_text("It burned oil.")
    await ingest_folder(db, tmp_path, "maria/lamps")
    key_id = ""
    if scope is not None:
        key = await create_key(db, name="x", owner="maria", scopes=[scope], days=9, by="admin")
        key_id = key.details.id
    request = REQUEST.model_copy(update={"collection": "maria/lamps"})
    made = await schedule_question(idle_engine.holdfast, request, WEEKLY, key_id=key_id)
    (before,) = await CorpusStore(db).documents("maria/lamps")
    file.write_text("It burned gas.")

    assert await begin(idle_engine, made.id, "first") is not None

    (after,) = await CorpusStore(db).documents("maria/lamps")
    assert (after.sha256 != before.sha256) == (scope is not Scope.ASK)
    await delete_temporal_schedule(idle_engine.temporal, made.id)


async def test_the_note_of_a_run_names_no_path_of_the_machine(
    idle_engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = FolderReading(folder="/srv/papers", is_read=False, note="/srv/papers is gone")
    served = []

    async def update_job(holdfast: Holdfast, job_id: str, **_: object) -> JobUpdate:
        served.append(holdfast.db.serves_owner)
        return JobUpdate(updated_job=job_id, folders=(gone,), note="no citation changed")

    monkeypatch.setattr("holdfast.schedules.scheduled_runs.update_job", update_job)
    made = await store_schedule(
        idle_engine.db,
        Schedule(
            id="weekly",
            owner="maria",
            key_id="of a sign-in provider",
            question="Who?",
            work=ScheduledWork(updated_job="job"),
            terms=WEEKLY,
            created_at=datetime.now(UTC),
            continued_at=datetime.now(UTC),
        ),
    )

    assert await begin(idle_engine, made.id, "first") is None

    (run,) = await load_runs(idle_engine.db, made.id, 9)
    assert served == [True]
    assert run.note == (
        "no citation changed; a folder of the documents was not read again: the worker's log says "
        "why"
    )


async def test_a_run_that_cannot_begin_says_why_and_the_schedule_goes_on(
    engine: RunningEngine,
) -> None:
    request = REQUEST.model_copy(update={"collection": "no-such-collection"})
    made = await schedule_question(engine.holdfast, request, WEEKLY)
    await run_later(engine, made.id, None)

    (run,) = await runs_when(engine, made.id, lambda runs: len(runs) == 1)

    assert run.job_id is None
    assert "no-such-collection" in run.note
    assert (await show_schedule(engine.holdfast, made.id, None)).status is ScheduleStatus.ACTIVE


async def test_what_cannot_be_a_schedule_is_refused(idle_engine: RunningEngine) -> None:
    holdfast = idle_engine.holdfast
    reviewed = REQUEST.model_copy(
        update={"strategy": REQUEST.strategy.model_copy(update={"review": True})}
    )
    with pytest.raises(BadInput, match="without a person"):
        await schedule_question(holdfast, reviewed, WEEKLY)
    for changed in ({"times": "at noon"}, {"time_zone": "Mars"}, {"catch_up": timedelta(days=999)}):
        with pytest.raises(BadInput):
            await schedule_question(holdfast, REQUEST, WEEKLY.model_copy(update=changed))
    with pytest.raises(NotFound):
        await schedule_update(holdfast, "no-such-job", WEEKLY, owner="maria")
    assert await load_schedules(holdfast.db, None) == []
