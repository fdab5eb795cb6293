"""Tests for the fallback model: called when the job's model is busy for too long, never when the
model refuses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from holdfast.activities.runtime.activity_services import ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.call_records import CallKey, CallView
from holdfast.models.errors import ModelBusy, ModelTurnAwaited, QuotaExhausted
from holdfast.models.jobs.job_record import JobRequest, JobStatus
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.views.job_views import EventView
from holdfast.roles.dialogue.role_definition import Role
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.roles.tasks.extractor import EXTRACTOR
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.evidence_rows import load_report
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

FIRST, BACKUP = "scripted", "backup"
AWAY = ScriptedReply(status=503, error={"message": "overloaded"})
"""Not 429, which pauses the model for all its tasks: test_model_pauses."""
QUOTA = ScriptedReply(status=429, error={"message": "no credit", "code": "insufficient_quota"})


@pytest.fixture(autouse=True)
def page(players: ScriptedRoles, tools: ScriptedTools) -> None:
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    tools.answers = {"q": "The bridge was opened in 1932."}


def stumble(
    players: ScriptedRoles, reply: ScriptedReply, *roles: Role[Any, Any], times: int = 1000
) -> None:
    """Have the first model answer these roles with this so often."""
    left = dict.fromkeys((role.name for role in roles), times)

    def part(name: str) -> Callable[[ReceivedRequest], object]:
        def play(asked: ReceivedRequest) -> object:
            if asked.body["model"] == FIRST and left[name] > 0:
                left[name] -= 1
                return reply
            return getattr(players, f"_{name}")(asked)

        return play

    players.parts |= {role.name: part(role.name) for role in roles}


async def model_calls(db: Database, job_id: str) -> list[CallView]:
    return [call for call in await job_queries.job_calls(db, job_id) if call.kind == "model"]


async def falls(db: Database, job_id: str) -> list[EventView]:
    found = await job_queries.events_after(db, job_id, 0)
    return [event for event in found if event.kind == "model.fallback_used"]


def names_asked(model: ScriptedModel) -> set[str]:
    return {asked.body["model"] for asked in model.asked}


async def written_by(engine: RunningEngine, job_id: str) -> str:
    report = await load_report(engine.db, job_id)
    assert report is not None
    return report.model


@pytest.mark.conformance("VMAO-12")
@pytest.mark.long
async def test_model_busy_for_longer_than_the_patience_is_replaced_for_that_call(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    stumble(players, AWAY, EXTRACTOR)

    job = await engine.run("When?", fallback_model=BACKUP, fallback_after="PT1S")

    assert (job.status, job.stop_reason) == ("done", "answered")
    planner, first, instead, reasoner, writer = await model_calls(engine.db, job.job_id)
    assert (first.role, first.name, first.status) == ("extractor", FIRST, "refused")
    assert first.sends >= 2
    assert "503: overloaded" in str(first.error)
    assert (instead.role, instead.name, instead.status) == ("extractor", BACKUP, "done")
    assert (instead.sends, instead.request_hash != first.request_hash) == (1, True)
    assert {call.name for call in (planner, reasoner, writer)} == {FIRST}
    (fall,) = await falls(engine.db, job.job_id)
    assert fall.task == "T1"
    assert {name: fall.facts[name] for name in ("role", "from", "to")} == {
        "role": "extractor",
        "from": FIRST,
        "to": BACKUP,
    }
    assert "503" in str(fall.facts["reason"])
    assert await written_by(engine, job.job_id) == f"{FIRST}, with {BACKUP}"


@pytest.mark.conformance("VMAO-12")
@pytest.mark.long
async def test_report_names_the_fallback_that_wrote_it(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    stumble(players, AWAY, SYNTHESISER)

    job = await engine.run("When?", fallback_model=BACKUP, fallback_after="PT0S")

    assert job.status == "done"
    assert await written_by(engine, job.job_id) == f"{BACKUP}, with {FIRST}"
    assert [event.task for event in await falls(engine.db, job.job_id)] == ["report"]


@pytest.mark.long
async def test_model_busy_for_less_than_the_patience_is_asked_again(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel
) -> None:
    stumble(players, AWAY, EXTRACTOR, times=2)

    job = await engine.run("When?", fallback_model=BACKUP, fallback_after="PT1M")

    assert job.status == "done"
    assert names_asked(model) == {FIRST}
    assert await falls(engine.db, job.job_id) == []
    (call,) = [c for c in await model_calls(engine.db, job.job_id) if c.role == "extractor"]
    assert (call.status, call.sends) == ("done", 3)
    assert await written_by(engine, job.job_id) == FIRST


LASTING = {
    "key": (ScriptedReply(status=401, error={"message": "bad key"}), "failed", "model_refused"),
    "name": (
        ScriptedReply(status=404, error={"message": "no such model"}),
        "failed",
        "model_refused",
    ),
    "context": (
        ScriptedReply(status=400, error={"message": "long", "code": "context_length_exceeded"}),
        "failed",
        "replans_exhausted",
    ),
    "quota": (QUOTA, "paused", None),
}


@pytest.mark.parametrize(("reply", "status", "reason"), LASTING.values(), ids=LASTING.keys())
@pytest.mark.long
async def test_what_lasts_is_never_put_to_the_fallback(
    engine: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
    reply: ScriptedReply,
    status: str,
    reason: str | None,
) -> None:
    stumble(players, reply, EXTRACTOR)
    settings = {"fallback_model": BACKUP, "fallback_after": "PT0S", "max_replans_per_task": "0"}

    job_id = await engine.submit("When?", **settings)
    async with asyncio.timeout(30):
        while (await job_rows.load_job(engine.db, job_id)).status is not JobStatus(status):
            await asyncio.sleep(0.05)

    job = await engine.holdfast.show(job_id)
    assert (job.status, job.stop_reason) == (status, reason)
    assert names_asked(model) == {FIRST}
    assert await falls(engine.db, job_id) == []


TASK = ReasonerTask(question="?", description="answer", inputs=(), context=(), outputs=())
PATIENT = Strategy(fallback_model=BACKUP, fallback_after=timedelta(seconds=60))


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model=FIRST, strategy=PATIENT)
    await job_rows.submit_job(database, "job-1", request, None)
    yield database
    await database.close()


@pytest.fixture
async def models(model: ScriptedModel) -> AsyncIterator[ModelRegistry]:
    endpoint = EndpointModel(base_url=model.url, api_key=SecretStr("sk-test"))
    yield ModelRegistry(extractive=ExtractiveModel(), endpoint=endpoint)
    await endpoint.aclose()


def model_caller(db: Database, models: ModelRegistry, strategy: Strategy = PATIENT) -> ModelCaller:
    """As each attempt has its own: nothing is known but what PostgreSQL knows."""
    return ModelCaller(CallLedger(db), models, FIRST, strategy, "job-1", epoch=0, task_id="T1")


async def later(db: Database, **by: float) -> None:
    """As if the calls had ended so much longer ago."""
    past = text("update model_calls set finished_at = finished_at - :by")
    async with db.writing() as connection:
        await connection.execute(past, {"by": timedelta(**by)})


async def test_crash_does_not_restart_the_patience_and_no_answer_is_asked_for_twice(
    db: Database, models: ModelRegistry, players: ScriptedRoles, model: ScriptedModel
) -> None:
    stumble(players, AWAY, REASONER)
    with pytest.raises(ModelBusy):
        await model_caller(db, models).ask(REASONER, TASK)
    await later(db, seconds=50)
    with pytest.raises(ModelBusy):
        await model_caller(db, models).ask(REASONER, TASK)
    (failed,) = await model_calls(db, "job-1")
    async with db.writing() as connection:  # killed while the call was under way
        await connection.execute(text("update model_calls set status = 'started'"))
    await later(db, seconds=20)

    first = await model_caller(db, models).ask(REASONER, TASK)
    asked = model.count
    again = await model_caller(db, models).ask(REASONER, TASK)

    assert failed.sends == 2
    assert first.answer == again.answer
    assert first.answer is not None
    assert [each.body["model"] for each in model.asked] == [FIRST, FIRST, FIRST, BACKUP]
    assert model.count == asked
    assert len(await falls(db, "job-1")) == 1


async def test_a_busy_fallback_is_retried_alone(
    db: Database, models: ModelRegistry, players: ScriptedRoles, model: ScriptedModel
) -> None:
    players.parts["reasoner"] = lambda asked: AWAY
    at_once = PATIENT.model_copy(update={"fallback_after": timedelta(0)})
    for _ in range(2):
        with pytest.raises(ModelBusy, match=BACKUP):
            await model_caller(db, models, at_once).ask(REASONER, TASK)

    assert [each.body["model"] for each in model.asked] == [FIRST, BACKUP, BACKUP]
    assert len(await falls(db, "job-1")) == 1


async def test_the_pause_that_the_model_asks_for_ends_with_the_patience(
    db: Database, models: ModelRegistry, players: ScriptedRoles
) -> None:
    slow = ScriptedReply(status=503, error=AWAY.error, headers={"retry-after": "300"})
    stumble(players, slow, REASONER)

    with pytest.raises(ModelBusy) as alone:
        await model_caller(db, models, Strategy()).ask(REASONER, TASK)
    with pytest.raises(ModelBusy) as patient:
        await model_caller(db, models).ask(REASONER, TASK)

    assert alone.value.after == timedelta(seconds=300)
    assert patient.value.after is not None
    assert timedelta(seconds=30) < patient.value.after <= timedelta(seconds=60)


async def test_time_without_credit_does_not_count_as_busy(
    db: Database, models: ModelRegistry, players: ScriptedRoles, model: ScriptedModel
) -> None:
    stumble(players, QUOTA, REASONER)
    with pytest.raises(QuotaExhausted):
        await model_caller(db, models).ask(REASONER, TASK)
    await later(db, days=1)

    stumble(players, AWAY, REASONER)
    with pytest.raises(ModelBusy):
        await model_caller(db, models).ask(REASONER, TASK)

    assert names_asked(model) == {FIRST}


async def test_time_in_which_the_call_waits_for_its_turn_does_not_count_as_busy(
    db: Database, models: ModelRegistry, players: ScriptedRoles, model: ScriptedModel
) -> None:
    """For hours until midnight under a quota, which is looked at every few seconds."""
    stumble(players, AWAY, REASONER)
    caller = model_caller(db, models)
    with pytest.raises(ModelBusy):
        await caller.ask(REASONER, TASK)
    query = text("select id, task_id, part, request_hash from model_calls")
    async with db.reading() as connection:
        row = (await connection.execute(query)).one()
    key = CallKey(job_id="job-1", task_id="T1", part=row.part, request_hash=row.request_hash)
    for _ in range(50):
        async with db.writing() as connection:  # announced once more, and the quota has no room
            await connection.execute(text("update model_calls set status = 'started'"))
        wait = ModelTurnAwaited("no room before midnight", after=timedelta(seconds=20))
        await caller.ledger.withhold_model_call(key, row.id, 0, FIRST, wait)
        async with db.writing() as connection:
            past = "update model_calls set finished_at = finished_at - :by, waits_until = waits_until - :by"
            await connection.execute(text(past), {"by": timedelta(seconds=25)})

    with pytest.raises(ModelBusy):
        await model_caller(db, models).ask(REASONER, TASK)
    assert names_asked(model) == {FIRST}

    await later(db, seconds=60)
    await model_caller(db, models).ask(REASONER, TASK)
    assert names_asked(model) == {FIRST, BACKUP}, "what was failing goes on to count"
