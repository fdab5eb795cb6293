"""Tests for the limits of a model, which hold over all workers: requests, tokens, calls at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.activities.runtime.activity_services import ConfiguredModel, ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.errors import ModelTurnAwaited
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.limits.model_turns import end_turn, take_turn
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel

pytestmark = pytest.mark.slow

TASK = ReasonerTask(question="?", description="answer", inputs=(), context=(), outputs=())
MODEL = "limited"


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model=MODEL, strategy=Strategy())
    await job_rows.submit_job(database, "job-1", request, None)
    yield database
    await database.close()


async def later(db: Database, seconds: float) -> None:
    """As if every turn had begun so much earlier."""
    past = {"by": timedelta(seconds=seconds)}
    async with db.writing() as connection:
        await connection.execute(text("update model_turns set began_at = began_at - :by"), past)


def limits(**values: Any) -> ModelConfig:
    return ModelConfig(**values)


async def test_requests_of_a_minute_are_counted_until_they_are_a_minute_old(db: Database) -> None:
    config = limits(requests_per_minute=2)

    first = await take_turn(db, MODEL, 1, config, 10)
    await later(db, 30)
    second = await take_turn(db, MODEL, 2, config, 10)
    third = await take_turn(db, MODEL, 3, config, 10)
    other = await take_turn(db, "another", 3, config, 10)
    await later(db, 32)
    again = await take_turn(db, MODEL, 3, config, 10)

    assert all(turn.id for turn in (first, second, other, again))
    assert third.id is None
    assert third.reason == "its limit of 2 requests a minute"
    assert third.wait is not None
    assert timedelta(seconds=20) < third.wait <= timedelta(seconds=31)


async def test_a_clock_that_was_set_back_costs_a_call_a_minute_at_most(db: Database) -> None:
    config = limits(requests_per_minute=2)
    for call in (1, 2):
        await take_turn(db, MODEL, call, config, 10)
    await later(db, -3600)  # PostgreSQL's clock goes an hour back

    waits = await take_turn(db, MODEL, 2, config, 10)
    await later(db, 62)
    goes = await take_turn(db, MODEL, 2, config, 10)

    assert waits.wait is not None
    assert waits.wait <= timedelta(seconds=61)
    assert goes.id


async def test_tokens_of_a_minute_are_counted_as_they_came(db: Database) -> None:
    config = limits(tokens_per_minute=1000)

    alone = await take_turn(db, MODEL, 1, config, 5000)
    await end_turn(db, alone, 400)
    fits = await take_turn(db, MODEL, 2, config, 600)
    waits = await take_turn(db, MODEL, 3, config, 1)

    assert all(turn.id for turn in (alone, fits))
    assert (waits.id, waits.reason) == (None, "its limit of 1000 tokens a minute")


@pytest.mark.parametrize("ending", ["ended", "sent again", "lease"])
async def test_a_call_holds_its_place_until_it_ends_is_sent_again_or_never_came_back(
    db: Database, ending: str
) -> None:
    config = limits(calls_at_once=1, timeout_s=60)
    open_turn = await take_turn(db, MODEL, 1, config, 10)
    waits = await take_turn(db, MODEL, 2, config, 10)

    if ending == "ended":
        await end_turn(db, open_turn, None)
    elif ending == "sent again":  # its worker was killed
        again = await take_turn(db, MODEL, 1, config, 10)
        assert again.id
        await end_turn(db, again, None)
    else:
        await later(db, 91)
    goes = await take_turn(db, MODEL, 2, config, 10)

    assert (waits.id, waits.reason) == (None, "its limit of 1 calls at once")
    assert goes.id


@pytest.mark.conformance("MOD-03")
async def test_calls_of_many_workers_at_the_same_moment_take_no_turn_twice(
    db: Database, database_url: str
) -> None:
    """Each worker has connections of its own, as a process has."""
    config = limits(requests_per_minute=5)
    workers = [Database(database_url) for _ in range(4)]
    try:
        turns = await asyncio.gather(
            *(take_turn(workers[n % 4], MODEL, n, config, 10) for n in range(24))
        )
    finally:
        await asyncio.gather(*(worker.close() for worker in workers))

    assert sum(turn.id is not None for turn in turns) == 5


@pytest.fixture
async def models(model: ScriptedModel) -> AsyncIterator[ModelRegistry]:
    config = limits(requests_per_minute=1)
    endpoint = EndpointModel(base_url=model.url, config=config, table=MODEL)
    configured = {MODEL: ConfiguredModel(endpoint, config)}
    yield ModelRegistry(ExtractiveModel(), configured=configured)
    await endpoint.aclose()


def caller(db: Database, models: ModelRegistry, task: str) -> ModelCaller:
    return ModelCaller(CallLedger(db), models, MODEL, Strategy(), "job-1", epoch=0, task_id=task)


async def test_a_call_that_waits_was_not_sent_and_goes_later(
    db: Database, models: ModelRegistry, model: ScriptedModel
) -> None:
    await caller(db, models, "T1").ask(REASONER, TASK)
    with pytest.raises(ModelTurnAwaited, match="limit of 1 requests a minute, until") as waits:
        await caller(db, models, "T2").ask(REASONER, TASK)
    again = await caller(db, models, "T1").ask(REASONER, TASK)
    while_waiting = model.count
    await later(db, 62)
    done = await caller(db, models, "T2").ask(REASONER, TASK)

    assert waits.value.after is not None
    assert timedelta(seconds=30) < waits.value.after <= timedelta(seconds=61)
    assert while_waiting == 1
    assert again.answer is not None  # recorded: it needs no turn
    assert done.answer is not None
    sends = {call.task: call.sends for call in await job_queries.job_calls(db, "job-1")}
    assert sends == {"T1": 1, "T2": 1}
