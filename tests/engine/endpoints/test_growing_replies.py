"""Tests that `status` shows how far the reply of a model call has come."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from holdfast.activities.runtime import call_progress_record
from holdfast.activities.runtime.activity_services import ConfiguredModel, ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.cli.render.status_lines import status_lines
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.errors import ModelBusy
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.models.views.status_views import OpenCall, StatusDocument
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.views.open_call_queries import load_open_calls
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply

TASK = ReasonerTask(question="?", description="answer", inputs=(), context=(), outputs=())
MODEL = "big"
ANSWER = {"status": "completed", "outputs": [{"name": "a", "value": "word " * 500}]}
NEVER_S = 600.0


@pytest.fixture
async def db(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    monkeypatch.setattr(call_progress_record, "RECORD_EVERY_S", 0.02)
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model=MODEL, strategy=Strategy())
    await job_rows.submit_job(database, "job-1", request, None)
    yield database
    await database.close()


@pytest.fixture
async def caller(
    db: Database, model: ScriptedModel, request: pytest.FixtureRequest
) -> AsyncIterator[ModelCaller]:
    config = ModelConfig(url=model.url, silence_s=getattr(request, "param", 1.0))
    endpoint = EndpointModel(base_url=model.url, api_key=SecretStr("sk-test"), config=config)
    models = ModelRegistry(
        extractive=ExtractiveModel(), configured={MODEL: ConfiguredModel(endpoint, config)}
    )
    yield ModelCaller(CallLedger(db), models, MODEL, Strategy(), "job-1", epoch=0, task_id="T1")
    await endpoint.aclose()


async def open_call(db: Database) -> OpenCall:
    """The call that is under way, once a part of its reply is recorded."""
    async with asyncio.timeout(20):
        while True:
            calls = await load_open_calls(db, "job-1")
            if calls and calls[0].received_chars:
                return calls[0]


@pytest.mark.conformance("MOD-11")
# The reply stands still until it was seen, however slow the machine is.
@pytest.mark.parametrize("caller", [60.0], indirect=True)
async def test_a_reply_that_grows_is_shown_and_gone_when_it_is_there(
    db: Database, caller: ModelCaller, model: ScriptedModel
) -> None:
    model.push(ScriptedReply.of(ANSWER, stall=NEVER_S).completed(REASONER))
    asking = asyncio.create_task(caller.ask(REASONER, TASK))

    call = await open_call(db)
    document = StatusDocument(
        job_id="job-1", status="running", model_calls=(call,), currency="USD", at=datetime.now(UTC)
    )
    model.release()
    await asking

    assert (call.task, call.role, call.model, call.until) == ("T1", "reasoner", MODEL, None)
    assert 0 < call.received_chars < 2_500
    shown = f"reasoner of T1 is answered by big, {call.received_chars:,} characters so far"
    assert f"model:    {shown}" in list(status_lines(document))
    assert await load_open_calls(db, "job-1") == ()


@pytest.mark.conformance("MOD-11")
async def test_a_reply_that_stands_still_is_asked_for_again_from_the_beginning(
    db: Database, caller: ModelCaller, model: ScriptedModel
) -> None:
    model.push(
        ScriptedReply.of(ANSWER, stall=NEVER_S).completed(REASONER),
        ScriptedReply.of(ANSWER, delay=NEVER_S).completed(REASONER),
    )
    with pytest.raises(ModelBusy, match="sent nothing for 1 s"):
        await caller.ask(REASONER, TASK)
    failed = await load_open_calls(db, "job-1")

    asking = asyncio.create_task(caller.ask(REASONER, TASK))
    await asyncio.to_thread(model.wait_for, 2)
    (again,) = await load_open_calls(db, "job-1")
    model.release()
    await asking

    assert failed == ()
    assert (again.received_chars, again.why) == (0, "")
