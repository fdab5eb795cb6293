"""Tests for what the call ledger and the sources keep of the origin of a text and of later checks."""

from collections.abc import AsyncIterator
from random import Random

import pytest
from mcp.types import CallToolResult
from sqlalchemy import text

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.evidence.source_checks import SourceCheck, SourceDrift
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import evidence_rows, source_queries
from holdfast.storage.evidence.source_check_rows import keep_source_checks, latest_source_checks
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.ledger.recorded_answers import recorded_answer
from holdfast.storage.plans import task_transactions
from holdfast.tools.mcp.answers.answer_reader import read_tool_answer
from tests.storage.plans.test_task_transactions import begin_sample_job, sample_attempt

pytestmark = pytest.mark.slow


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.mark.parametrize(
    "answer",
    [
        ToolAnswer(
            text="same",
            passages=(
                SourcePassage(
                    address="https://a",
                    title="A",
                    date="2024",
                    text="same",
                    start=7,
                    end=11,
                    tool="kb.read",
                    via="kb",
                ),
            ),
        ),
        ToolAnswer(
            text="whole",
            passages=(
                SourcePassage(address="tool:kb.say", text="whole", end=5, tool="kb.say", via="kb"),
            ),
        ),
        ToolAnswer(text='{"passages": []}', structured={"passages": []}),
    ],
    ids=["a page that is the whole answer", "a plain answer", "no passages"],
)
async def test_a_recorded_answer_comes_back_as_it_was(db: Database, answer: ToolAnswer) -> None:
    await begin_sample_job(db)
    key = CallKey(job_id="job-1", request_hash="t")
    opened = await CallLedger(db).open_tool_call(key, "kb.read", {})
    await CallLedger(db).close_tool_call(opened.row_id, answer)

    again = await CallLedger(db).open_tool_call(key, "kb.read", {})

    assert again.answer == answer


def test_an_answer_that_an_earlier_release_recorded_has_its_passage() -> None:
    answer = recorded_answer('{"text": "whole", "structured": null, "is_cut": false}', "kb.say")

    assert answer.passages == (SourcePassage(address="tool:kb.say", text="whole", end=5),)


async def test_two_servers_that_give_the_same_words_are_two_sources(db: Database) -> None:
    words = {"address": "https://a", "text": "it was found here", "end": 17}
    for job, told in (
        ("job-1", {"title": "Honest", "date": "2024"}),
        ("job-2", {"title": "Forged", "date": "1999", "via": "evil", "tool": "evil.say"}),
        ("job-3", {"title": "Honest", "date": "2024"}),
    ):
        order = await begin_sample_job(db, job)
        passage = SourcePassage.model_validate(words | told)
        await task_transactions.finish_task(
            CallLedger(db), order, "T1#1", sample_attempt(passage=passage)
        )

    found = [(await evidence_rows.evidence_of(db, f"job-{n}"))[0] for n in (1, 2, 3)]

    assert [(each.title, each.date, each.via) for each in found] == [
        ("Honest", "2024", ""),
        ("Forged", "1999", "evil"),
        ("Honest", "2024", ""),
    ]
    assert found[0].source_id == found[2].source_id != found[1].source_id


@pytest.mark.conformance("BEY-07")
async def test_a_stored_text_that_was_changed_resolves_nothing(db: Database) -> None:
    """Even where the quote still stands in it: the hash is of all that was read."""
    order = await begin_sample_job(db)
    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
    (item,) = await evidence_rows.evidence_of(db, "job-1")
    before = (await source_queries.load_cited_evidence(db, "job-1", [item.id]))[item.id].resolves

    async with db.writing() as connection:
        await connection.execute(text("update sources set text = text || ' by somebody else'"))

    assert before
    assert not (await source_queries.load_cited_evidence(db, "job-1", [item.id]))[item.id].resolves
    assert not (await source_queries.load_source_view(db, item.source_id)).is_intact


async def test_the_newest_look_that_found_something_counts(db: Database) -> None:
    order = await begin_sample_job(db)
    await task_transactions.finish_task(CallLedger(db), order, "T1#1", sample_attempt())
    (item,) = await evidence_rows.evidence_of(db, "job-1")
    for verdict in (SourceDrift.CHANGED, SourceDrift.GONE, SourceDrift.UNREADABLE):
        await keep_source_checks(db, [SourceCheck(evidence_id=item.id, verdict=verdict)])

    assert (await latest_source_checks(db, [item.id]))[item.id].verdict is SourceDrift.GONE
    async with db.reading() as connection:
        assert await connection.scalar(text("select count(*) from source_checks")) == 3


async def test_the_longest_address_that_a_server_may_tell_can_be_stored(db: Database) -> None:
    order = await begin_sample_job(db)
    letters = Random(7)
    address = "".join(chr(letters.randrange(0x4E00, 0x9FFF)) for _ in range(3000))
    told = {"passages": [{"text": "it was found here", "address": address}]}
    result = CallToolResult(content=[], structured_content=told)
    (passage,) = read_tool_answer(result, tool="kb.x", limit=9999, is_foreign=True).passages

    await task_transactions.finish_task(
        CallLedger(db), order, "T1#1", sample_attempt(passage=passage)
    )

    (found,) = await evidence_rows.evidence_of(db, "job-1")
    assert found.address.startswith(f"kb:{address[:600]}")
