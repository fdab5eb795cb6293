"""Tests that quotas of owners and keys hold over all workers, and count what calls took."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
from sqlalchemy import text

from holdfast.access.api_keys import create_key, rotate_key
from holdfast.access.quotas import set_quota
from holdfast.activities.runtime.activity_services import ModelRegistry
from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.quotas import QuotaHolder, QuotaLimits
from holdfast.models.errors import BadInput, ModelTurnAwaited, StorageAway
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.tasks.reasoner import REASONER, ReasonerTask
from holdfast.storage.access.quota_rows import load_quotas, remove_quota
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.limits.quota_uses import QuotaUse, quota_use, take_quota
from tests.support.endpoints.scripted_model import ScriptedModel

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-10")]

OWNER = QuotaHolder.OWNER


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    """A database with a job of maria's key, a job of hers without a key, and one of otto's."""
    database = Database(database_url)
    for job_id, owner, key_id in (
        ("job-k", "maria", "k1"),
        ("job-m", "maria", ""),
        ("job-o", "otto", ""),
    ):
        request = JobRequest(
            question="?", preset="kpi-chain", model="m", strategy=Strategy(), owner=owner
        )
        await job_rows.submit_job(database, job_id, request, None, key_id=key_id)
    yield database
    await database.close()


async def calls_of(db: Database, job_id: str, count: int) -> list[int]:
    """Announce calls of a job; their numbers."""
    statement = text("""
        insert into model_calls (job_id, attempt, part, request_hash, request, status, role, model)
        select :job, 1, n::text, n::text, '', 'started', 'reasoner', 'm'
        from generate_series(1, :count) as n returning id
    """)
    async with db.writing() as connection:
        rows = await connection.execute(statement, {"job": job_id, "count": count})
        return list(rows.scalars())


async def is_taken(db: Database, call_id: int, tokens: int = 10, cost: str | None = "0") -> bool:
    try:
        use = QuotaUse(tokens, None if cost is None else Decimal(cost))
        return await take_quota(db, call_id, use)
    except ModelTurnAwaited:
        return False


async def make_uses_slow(db: Database) -> None:
    """Let the statements of workers overlap, however fast the machine is."""
    async with db.writing() as connection:
        await connection.execute(
            text("""
            create function wait_a_moment() returns trigger language plpgsql as
            $$ begin perform pg_sleep(0.1); return new; end $$
            """)
        )
        slow = "create trigger slow before insert on quota_uses for each row"
        await connection.execute(text(f"{slow} execute function wait_a_moment()"))


async def test_calls_of_many_workers_at_the_same_moment_pass_no_quota(
    db: Database, database_url: str
) -> None:
    await set_quota(db, OWNER, "maria", QuotaLimits(calls=7), by="olga")
    await make_uses_slow(db)
    calls = [*await calls_of(db, "job-k", 12), *await calls_of(db, "job-m", 12)]
    workers = [Database(database_url) for _ in range(4)]
    try:
        taken = await asyncio.gather(
            *(is_taken(workers[n % 4], call) for n, call in enumerate(calls))
        )
    finally:
        await asyncio.gather(*(worker.close() for worker in workers))
    (quota,) = await load_quotas(db)

    assert sum(taken) == 7
    assert (quota.used_calls, quota.used_tokens) == (7, 70)


async def test_a_quota_counts_the_calls_of_its_owner_or_its_key_alone(db: Database) -> None:
    await set_quota(db, OWNER, "maria", QuotaLimits(tokens=100), by="olga")
    async with db.writing() as connection:
        key = text("insert into quotas (kind, subject, calls, set_by) values ('key', 'k1', 1, 'o')")
        await connection.execute(key)
    of_key, alone = await calls_of(db, "job-k", 3), await calls_of(db, "job-m", 3)
    ottos = await calls_of(db, "job-o", 3)

    assert await is_taken(db, of_key[0], 40)
    assert not await is_taken(db, of_key[1], 40), "the key has one call"
    assert await is_taken(db, alone[0], 60)
    assert not await is_taken(db, alone[1], 1), "maria has used her tokens"
    assert await is_taken(db, of_key[0], 40), "a call that is sent again counts once"
    assert not await is_taken(db, ottos[0], 10**6), "otto has no quota, so nothing counts"
    with pytest.raises(ModelTurnAwaited, match=r"owner 'maria' .* 100 of 100 tokens are used"):
        await take_quota(db, alone[1], QuotaUse(1, Decimal(0)))


async def test_a_rotated_key_keeps_the_quota_of_its_day_and_shares_it_with_the_former_key(
    db: Database,
) -> None:
    made = await create_key(db, name="laptop", owner="maria", scopes=[Scope.ASK], days=9, by="olga")
    await set_quota(db, QuotaHolder.KEY, made.details.id, QuotaLimits(calls=3), by="olga")
    before = await calls_of_key(db, made.details.id, 2)
    assert await is_taken(db, before[0])

    rotated = await rotate_key(db, made.details.id, overlap_hours=24, by="olga")
    after = await calls_of_key(db, rotated.details.id, 2)

    assert await is_taken(db, after[0])
    assert await is_taken(db, before[1]), "a job that the former key began goes on"
    assert not await is_taken(db, after[1])
    (quota,) = await load_quotas(db)
    assert (quota.subject, quota.used_calls) == (rotated.details.id, 3)
    await set_quota(db, QuotaHolder.KEY, made.details.id, QuotaLimits(calls=4), by="olga")
    (quota,) = await load_quotas(db)
    assert (quota.subject, quota.calls, quota.used_calls) == (rotated.details.id, 4, 3)
    assert await is_taken(db, after[1])
    await remove_quota(db, QuotaHolder.KEY, made.details.id, "olga")
    assert await load_quotas(db) == []


async def calls_of_key(db: Database, key_id: str, count: int) -> list[int]:
    """Announce calls of a new job that the key submitted; their numbers."""
    request = JobRequest(
        question="?", preset="kpi-chain", model="m", strategy=Strategy(), owner="maria"
    )
    await job_rows.submit_job(db, f"job-{key_id}", request, None, key_id=key_id)
    return await calls_of(db, f"job-{key_id}", count)


async def test_a_day_begins_at_midnight_and_a_cost_needs_a_price(db: Database) -> None:
    await set_quota(db, OWNER, "maria", QuotaLimits(cost=Decimal("0.50")), by="olga")
    calls = await calls_of(db, "job-m", 3)

    assert await is_taken(db, calls[0], cost="0.40")
    assert not await is_taken(db, calls[1], cost="0.20")
    with pytest.raises(ModelTurnAwaited, match="price is not in holdfast"):
        await take_quota(db, calls[1], QuotaUse(1, None))
    async with db.writing() as connection:
        await connection.execute(text("update quota_uses set began_at = began_at - interval '1 d'"))
    assert await is_taken(db, calls[1], cost="0.20")


async def test_a_call_without_room_is_not_sent_and_goes_once_the_quota_is_raised(
    db: Database, model: ScriptedModel
) -> None:
    task = ReasonerTask(question="?", description="answer", inputs=(), context=(), outputs=())
    endpoint = EndpointModel(base_url=model.url)
    models = ModelRegistry(ExtractiveModel(), endpoint)

    def caller(task_id: str) -> ModelCaller:
        return ModelCaller(
            CallLedger(db), models, "m", Strategy(), "job-m", epoch=0, task_id=task_id
        )

    await set_quota(db, OWNER, "maria", QuotaLimits(calls=1), by="olga")
    await caller("T1").ask(REASONER, task)
    with pytest.raises(ModelTurnAwaited, match="1 of 1 calls are used today") as waits:
        await caller("T2").ask(REASONER, task)
    sent = model.count
    await set_quota(db, OWNER, "maria", QuotaLimits(calls=2), by="olga")
    await caller("T2").ask(REASONER, task)
    (quota,) = await load_quotas(db)
    await endpoint.aclose()

    assert (sent, model.count) == (1, 2)
    assert waits.value.after is not None
    assert waits.value.after.total_seconds() <= 20
    assert quota.used_calls == 2
    async with db.reading() as connection:
        spent = text("select sum(input_tokens + output_tokens) from model_calls")
        assert (await connection.execute(spent)).scalar_one() == quota.used_tokens


async def test_a_call_that_is_answered_while_postgresql_is_away_keeps_its_answer(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_away(*_: object, **__: object) -> None:
        raise StorageAway("PostgreSQL does not answer")

    await set_quota(db, OWNER, "maria", QuotaLimits(tokens=100), by="olga")
    (call,) = await calls_of(db, "job-m", 1)
    async with quota_use(db, call, QuotaUse(10, Decimal(0))) as use:
        use.tokens = 7
        monkeypatch.setattr(Database, "row", is_away)
    monkeypatch.undo()
    (quota,) = await load_quotas(db)

    assert (quota.used_calls, quota.used_tokens) == (1, 10)


async def test_a_quota_without_a_limit_is_refused(db: Database) -> None:
    with pytest.raises(BadInput, match="needs a limit"):
        await set_quota(db, OWNER, "maria", QuotaLimits(), by="olga")
