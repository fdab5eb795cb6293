"""Tests that an erasure leaves nothing of a job or an owner, and that its receipt says what."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, text, update
from temporalio.service import RPCError, RPCStatusCode

from holdfast.access.api_keys import create_key
from holdfast.jobs.erasure import erase_job, erase_owner
from holdfast.models.access.access_scopes import Scope
from holdfast.models.access.erasures import ErasureSubject
from holdfast.models.corpus.document_uploads import DocumentUpload, UploadProgress, UploadStatus
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.follow_up import FollowUp
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.core.tables.job_tables import jobs
from holdfast.storage.corpus.upload_rows import store_upload
from holdfast.storage.jobs import erasure_rows
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

MARK = "zanzibarite"
"""A word that only the erased job has."""


async def tables_with(engine: RunningEngine, word: str) -> set[str]:
    """The tables that have the word in a row."""
    found = set()
    async with engine.db.reading() as connection:
        for name in metadata.tables:
            if name == "passage_vectors":
                continue  # exists only with pgvector
            query = text(f"select count(*) from {name} as t where t::text like :word")
            if (await connection.execute(query, {"word": f"%{word}%"})).scalar_one():
                found.add(name)
    return found


def files_with(home: Path, word: str) -> set[str]:
    """The files below the folder that have the word in their bytes or their path."""
    return {
        str(path.relative_to(home))
        for path in home.rglob("*")
        if word in str(path) or (path.is_file() and word.encode() in path.read_bytes())
    }


async def is_in_temporal(engine: RunningEngine, job_id: str) -> bool:
    try:
        await engine.temporal.get_workflow_handle(job_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


async def of_owner(engine: RunningEngine, job_id: str, owner: str) -> None:
    async with engine.db.writing() as connection:
        await connection.execute(jobs.update().where(jobs.c.id == job_id).values(owner=owner))


def script(players: ScriptedRoles, tools: ScriptedTools, word: str) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(
        lookup_task("T1", query="shared"), lookup_task("T2", query=word), final_task("T3", "T2")
    )


@pytest.mark.conformance("OPS-07")
async def test_an_erased_job_is_in_no_table_history_or_file_and_other_jobs_keep_theirs(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    script(players, tools, "other")
    other = await engine.run("What else?")
    script(players, tools, MARK)
    job = await engine.run(f"What is {MARK}?")
    assert await tables_with(engine, MARK) >= {"jobs", "tasks", "model_calls", "sources"}

    receipt = await erase_job(engine.holdfast, job.job_id, by="maria")

    assert await tables_with(engine, MARK) == set()
    assert await tables_with(engine, job.job_id) == {"erasures", "audit_entries"}
    assert not await is_in_temporal(engine, job.job_id)
    assert files_with(engine.holdfast.settings.home, MARK) == set()
    assert (receipt.jobs, receipt.erased_by) == ((job.job_id,), "maria")
    assert receipt.rows["jobs"] == 1
    assert receipt.rows["sources"] >= 1
    assert receipt.shared_sources >= 1
    assert len(receipt.workflow_runs) == 1
    assert MARK not in receipt.model_dump_json()
    assert await erasure_rows.load_receipts(engine.db, 10) == [receipt]
    assert (await engine.holdfast.show(other.job_id)).status == "done"


@pytest.mark.conformance("OPS-07")
async def test_a_running_job_is_ended_and_erased(
    engine: RunningEngine, players: ScriptedRoles, model: ScriptedModel, tools: ScriptedTools
) -> None:
    script(players, tools, MARK)
    players.parts["extractor"] = lambda asked: ScriptedReply.of(
        extractor_script("found", 0.9)(asked), delay=600
    )
    job_id = await engine.submit(f"What is {MARK}?")
    await asyncio.to_thread(model.wait_for, 2)

    receipt = await erase_job(engine.holdfast, job_id, by="maria")

    assert receipt.jobs == (job_id,)
    assert await tables_with(engine, MARK) == set()
    assert not await is_in_temporal(engine, job_id)
    model.release()


@pytest.mark.conformance("OPS-07")
@pytest.mark.long
async def test_a_fork_is_erased_with_its_origin_and_another_owners_job_stays(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(lookup_task("T1", query="a"), final_task("T2", "T1"))
    tools.answers = lambda argument: f"found {argument}"
    first, fork, foreign = [(await engine.run("Who?")).job_id for _ in range(3)]
    async with engine.db.writing() as connection:
        for job_id, owner in ((fork, "maria"), (foreign, "otto"), (first, "maria")):
            begun = {"job": first, "origins": [first], "cause": "forked"}
            row = {"owner": owner} if job_id == first else {"owner": owner, "fork": begun}
            await connection.execute(update(jobs).where(jobs.c.id == job_id).values(row))

    with pytest.raises(BadInput, match=f"{fork} follows .*--with-follow-ups") as refused:
        await erase_job(engine.holdfast, first, by="maria", owner="maria")
    receipt = await erase_job(
        engine.holdfast, first, by="maria", owner="maria", with_follow_ups=True
    )

    assert foreign not in str(refused.value)
    assert set(receipt.jobs) == {first, fork}
    assert receipt.dependent_jobs == (foreign,)
    assert await erasure_rows.job_ids_of_owner(engine.db, "otto") == [foreign]


@pytest.mark.long
async def test_a_job_that_others_follow_is_erased_only_with_them(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    script(players, tools, MARK)
    first, second = await engine.run(f"What is {MARK}?"), await engine.run("And who made it?")
    async with engine.db.writing() as connection:
        follow_up = FollowUp(job=first.job_id).model_dump(mode="json")
        follow_up["earlier"] = [{"question": f"What is {MARK}?", "answer": "found"}]
        statement = jobs.update().where(jobs.c.id == second.job_id)
        await connection.execute(statement.values(follow_up=follow_up))

    with pytest.raises(BadInput, match=f"{second.job_id} follows .*--with-follow-ups"):
        await erase_job(engine.holdfast, first.job_id, by="maria")
    assert "jobs" in await tables_with(engine, MARK)
    receipt = await erase_job(engine.holdfast, first.job_id, by="maria", with_follow_ups=True)

    assert set(receipt.jobs) == {first.job_id, second.job_id}
    assert await tables_with(engine, MARK) == set()


@pytest.mark.conformance("OPS-07")
async def test_an_erased_owner_has_no_row_file_or_history_and_other_owners_keep_theirs(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    script(players, tools, MARK)
    hers = await engine.run(f"What is {MARK}?")
    await of_owner(engine, hers.job_id, "maria")
    script(players, tools, "other")
    his = await engine.run("What else?")
    await of_owner(engine, his.job_id, "otto")
    await engine.add_document("maria/papers", f"{MARK} is a stone.")
    await engine.add_document("otto/papers", "Basalt is a stone.")
    for owner in ("maria", "otto"):
        await create_key(
            engine.db, name="laptop", owner=owner, scopes=[Scope.READ], days=1, by="olga"
        )
    upload = DocumentUpload(
        id="upload-1",
        owner="maria",
        collection="maria/papers",
        replaces_collection=False,
        metadata={},
        files=1,
        size_bytes=3,
        status=UploadStatus.WAITING,
        progress=UploadProgress(),
        created_at=datetime.now(UTC),
    )
    await store_upload(engine.db, upload)
    folder = engine.holdfast.settings.home / "uploads" / upload.id
    folder.mkdir(parents=True)
    (folder / "stone.md").write_text(MARK)

    receipt = await erase_owner(engine.holdfast, "maria", by="olga")

    assert await tables_with(engine, MARK) == set()
    assert await tables_with(engine, "maria") == {"erasures", "audit_entries"}
    assert await tables_with(engine, "otto") >= {"jobs", "documents", "passages", "api_keys"}
    assert files_with(engine.holdfast.settings.home, MARK) == set()
    assert not folder.exists()
    assert not await is_in_temporal(engine, hers.job_id)
    assert receipt.upload_folders == 1
    assert (
        json.loads(receipt.model_dump_json())["rows"].items()
        >= {
            "jobs": 1,
            "documents": 1,
            "api_keys": 1,
            "document_uploads": 1,
        }.items()
    )
    async with engine.db.reading() as connection:
        assert (await connection.execute(select(jobs.c.id))).scalars().all() == [his.job_id]


async def test_an_owner_without_anything_gets_no_receipt(engine: RunningEngine) -> None:
    with pytest.raises(NotFound, match="no owner 'maria' has anything here"):
        await erase_owner(engine.holdfast, "maria", by="olga")

    assert await erasure_rows.load_receipts(engine.db, 10) == []
    assert await tables_with(engine, "maria") == set()


async def test_an_interrupted_erasure_ends_though_its_owner_has_nothing_left(
    engine: RunningEngine,
) -> None:
    begun = await erasure_rows.begin_erasure(engine.db, ErasureSubject.OWNER, "maria", "olga")

    receipt = await erase_owner(engine.holdfast, "maria", by="olga")

    assert receipt.id == begun
    assert receipt.ended_at is not None
