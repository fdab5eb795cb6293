"""Tests that one 429 makes all tasks of a model wait, for all workers, and delays no fallback."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import text

from holdfast.activities.runtime.activity_services import ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.cli.render.status_lines import status_lines
from holdfast.models.errors import ModelBusy, ModelPaused
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.views.status_views import StatusDocument
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.limits.model_pauses import end_pause, pause_model
from holdfast.storage.views import job_queries
from holdfast.storage.views.open_call_queries import load_open_calls
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply

TASK = ReasonerTask(question="?", description="answer", inputs=(), context=(), outputs=())
FIRST, BACKUP = "scripted", "backup"
REASONED = ScriptedReply.playing(REASONER, {"status": "completed"})
PATIENT = Strategy(fallback_model=BACKUP, fallback_after=timedelta(seconds=60))


def too_many(**headers: str) -> ScriptedReply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ScriptedReply(status=429, error={"message": "slow down"}, headers=named)


@pytest.fixture
async def workers(database_url: str) -> AsyncIterator[tuple[Database, Database]]:
    """The connections of two workers."""
    first, second = Database(database_url), Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model=FIRST, strategy=Strategy())
    await job_rows.submit_job(first, "job-1", request, None)
    yield first, second
    await first.close()
    await second.close()


@pytest.fixture
async def models(model: ScriptedModel) -> AsyncIterator[ModelRegistry]:
    endpoint = EndpointModel(base_url=model.url, api_key=SecretStr("sk-test"))
    yield ModelRegistry(extractive=ExtractiveModel(), endpoint=endpoint)
    await endpoint.aclose()


def caller(
    db: Database, models: ModelRegistry, task: str, strategy: Strategy | None = None
) -> ModelCaller:
    chosen = strategy or Strategy()
    return ModelCaller(CallLedger(db), models, FIRST, chosen, "job-1", epoch=0, task_id=task)


async def later(db: Database, seconds: float) -> None:
    """As if everything had been refused so much earlier."""
    past = {"by": timedelta(seconds=seconds)}
    async with db.writing() as connection:
        await connection.execute(
            text("update model_pauses set since = since - :by, until = until - :by"), past
        )
        await connection.execute(
            text("update model_calls set finished_at = finished_at - :by"), past
        )


async def sends(db: Database) -> dict[str, int]:
    return {call.task: call.sends for call in await job_queries.job_calls(db, "job-1")}


@pytest.mark.conformance("MOD-03")
async def test_a_429_to_one_worker_makes_the_calls_of_all_workers_wait(
    workers: tuple[Database, Database], models: ModelRegistry, model: ScriptedModel
) -> None:
    one, other = workers
    model.push(too_many(retry_after="300"))
    with pytest.raises(ModelBusy, match="429: slow down"):
        await caller(one, models, "T1").ask(REASONER, TASK)

    for task in ("T2", "T3", "T2"):
        with pytest.raises(ModelPaused, match="its endpoint has answered 429") as waits:
            await caller(other, models, task).ask(REASONER, TASK)
    asked_while_waiting = model.count
    shown = await load_open_calls(one, "job-1")
    await later(one, 301)
    model.push(REASONED)
    await caller(other, models, "T2").ask(REASONER, TASK)

    assert asked_while_waiting == 1
    assert waits.value.after is not None
    assert timedelta(seconds=280) < waits.value.after <= timedelta(seconds=305)
    assert await sends(one) == {"T1": 1, "T2": 1, "T3": 0}
    assert [(call.task, call.role, call.model) for call in shown] == [
        ("T2", "reasoner", FIRST),
        ("T3", "reasoner", FIRST),
    ]
    entries = await job_queries.events_after(one, "job-1", 0)
    (entry,) = [each for each in entries if each.kind == "model.awaited"]
    assert (entry.task, entry.facts["model"]) == ("T2", FIRST)
    document = StatusDocument(
        job_id="job-1", status="running", model_calls=shown, currency="USD", at=entry.at
    )
    (line, _) = [each for each in status_lines(document) if each.startswith("model:")]
    assert "reasoner of T2 waits until" in line
    assert "429" in line


@pytest.mark.conformance("MOD-03")
async def test_a_pause_does_not_delay_the_fallback_model(
    workers: tuple[Database, Database], models: ModelRegistry, model: ScriptedModel
) -> None:
    """The time of failing counts from the model's first refusal, also for a call not sent yet."""
    one, other = workers
    model.push(too_many(retry_after="300"))
    with pytest.raises(ModelBusy):
        await caller(one, models, "T1", PATIENT).ask(REASONER, TASK)
    await later(one, 20)
    with pytest.raises(ModelPaused) as waits:
        await caller(other, models, "T2", PATIENT).ask(REASONER, TASK)
    await later(one, 41)
    model.push(*[REASONED] * 2)
    for task in ("T1", "T2"):
        await caller(other, models, task, PATIENT).ask(REASONER, TASK)

    assert waits.value.after is not None
    assert timedelta(seconds=30) < waits.value.after <= timedelta(seconds=40)
    assert [asked.body["model"] for asked in model.asked] == [FIRST, BACKUP, BACKUP]
    made = await job_queries.job_calls(one, "job-1")
    assert {(call.task, call.name): call.sends for call in made} == {
        ("T1", FIRST): 1,
        ("T2", FIRST): 0,
        ("T1", BACKUP): 1,
        ("T2", BACKUP): 1,
    }


async def test_a_wait_for_another_reason_is_no_part_of_the_time_of_failing(
    workers: tuple[Database, Database], models: ModelRegistry, model: ScriptedModel
) -> None:
    one, _ = workers
    no_credit = {"message": "no credit", "code": "insufficient_quota"}
    model.push(ScriptedReply(status=429, error=no_credit))
    with pytest.raises(Exception, match="no credit"):
        await caller(one, models, "T1", PATIENT).ask(REASONER, TASK)
    await later(one, 86_400)
    await pause_model(one, FIRST, timedelta(seconds=30))

    with pytest.raises(ModelPaused):
        await caller(one, models, "T1", PATIENT).ask(REASONER, TASK)

    assert model.count == 1


async def test_pauses_that_no_endpoint_names_double_until_an_answer(
    workers: tuple[Database, Database],
) -> None:
    one, other = workers
    left: list[float] = []
    for _ in range(3):
        pause = await pause_model(one, FIRST, None)
        together = await pause_model(other, FIRST, None)  # the call was under way as well
        assert pause is not None
        assert together is not None
        assert together <= pause + timedelta(seconds=0.5)
        left.append(pause.total_seconds())
        await end_pause(one, FIRST)  # not over: it stays
        await later(one, pause.total_seconds() + 0.01)
    await end_pause(one, FIRST)
    fresh = await pause_model(one, FIRST, None)
    await later(one, 100)
    forgotten = await pause_model(one, FIRST, None)

    assert [round(each) for each in left] == [1, 2, 4]
    assert fresh is not None
    assert forgotten is not None
    assert round(fresh.total_seconds()) == round(forgotten.total_seconds()) == 1


async def test_a_shorter_pause_leaves_the_longer_one(workers: tuple[Database, Database]) -> None:
    one, other = workers

    await pause_model(one, FIRST, timedelta(seconds=120))
    left = await pause_model(other, FIRST, timedelta(seconds=2))

    assert left is not None
    assert left > timedelta(seconds=100)
