"""Tests that figures are stored with the answer of their call, and only once."""

import pytest
from sqlalchemy import text

from holdfast.models.calls.call_records import CallKey
from holdfast.models.calls.tool_figures import SVG, new_figure
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.errors import StorageAway
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.ledger.call_ledger import CallLedger
from holdfast.storage.ledger.figure_rows import load_figure

PNG = new_figure("image/png", b"\x89PNG\r\n\x1a\n\x00bytes", title="It grew", caption="So")
DRAWING = new_figure(SVG, b"<svg/>", title="It grew", caption="So")
ANSWER = ToolAnswer(
    text="drawn",
    passages=(SourcePassage(address="tool:charts.draw", text="drawn", end=5),),
    figures=(PNG, DRAWING),
)
KEY = CallKey(job_id="job-1", task_id="T1", request_hash="h")


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(database, "job-1", request, None)
    yield database
    await database.close()


async def rows(db: Database, query: str) -> list[tuple[object, ...]]:
    async with db.reading() as connection:
        return [tuple(row) for row in (await connection.execute(text(query))).all()]


@pytest.mark.parametrize("may_wait", [False, True])
async def test_an_answer_is_recorded_with_its_figures_and_given_again_without_a_call(
    db: Database, may_wait: bool
) -> None:
    ledger = CallLedger(db, may_wait=may_wait)
    opened = await ledger.open_tool_call(KEY, "charts.draw", {"x": 1})

    await ledger.close_tool_call(opened.row_id, ANSWER)

    again = await CallLedger(db).open_tool_call(KEY, "charts.draw", {"x": 1})
    assert isinstance(again.answer, ToolAnswer)
    assert [each.sha256 for each in again.answer.figures] == [PNG.sha256, DRAWING.sha256]
    assert again.answer.passages == ANSWER.passages
    found = await load_figure(db, "job-1", PNG.sha256)
    assert found is not None
    assert (found.data, found.media_type, found.title) == (PNG.data, "image/png", "It grew")
    assert found.is_built_in
    ((response,),) = await rows(db, "select response from tool_calls")
    assert len(str(response)) < 1000
    assert await load_figure(db, "job-2", PNG.sha256) is None


async def test_an_answer_that_is_recorded_twice_keeps_the_first_and_its_figures_alone(
    db: Database,
) -> None:
    ledger = CallLedger(db)
    opened = await ledger.open_tool_call(KEY, "charts.draw", {})
    other = new_figure("image/png", b"\x89PNG other", title="Late")
    await ledger.close_tool_call(opened.row_id, ANSWER)

    await ledger.close_tool_call(opened.row_id, ANSWER)
    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="late", figures=(other,)))

    assert await rows(db, "select count(*) from figures") == [(2,)]
    assert await load_figure(db, "job-1", other.sha256) is None


async def test_figures_that_cannot_be_stored_leave_no_answer_without_them(db: Database) -> None:
    """One statement: half of it is never there."""
    ledger = CallLedger(db)
    opened = await ledger.open_tool_call(KEY, "charts.draw", {})
    broken = PNG.model_copy(update={"media_type": None})

    with pytest.raises(Exception, match="media_type") as failed:
        await ledger.close_tool_call(
            opened.row_id, ANSWER.model_copy(update={"figures": (broken,)})
        )

    assert not isinstance(failed.value, StorageAway)
    assert await rows(db, "select status from tool_calls") == [("started",)]
    assert await rows(db, "select count(*) from figures") == [(0,)]


async def test_an_answer_without_figures_is_stored_as_ever(db: Database) -> None:
    ledger = CallLedger(db)
    opened = await ledger.open_tool_call(KEY, "lab.look", {})

    await ledger.close_tool_call(opened.row_id, ToolAnswer(text="plain"))

    ((response,),) = await rows(db, "select response from tool_calls")
    assert "figures" not in str(response)
