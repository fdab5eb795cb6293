"""Store and load the transcript of a cited loop, and read the answers of its steps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert

from holdfast.models.calls.call_status import CallStatus
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.errors import NotFound
from holdfast.models.loop.loop_results import NumberedPassage, Transcript, TranscriptMessage
from holdfast.storage.core.database import Database, JobTransaction
from holdfast.storage.core.tables.call_tables import tool_calls
from holdfast.storage.core.tables.evidence_tables import sources
from holdfast.storage.core.tables.loop_tables import loop_messages, loop_passages
from holdfast.storage.evidence.source_passages import PASSAGE_COLUMNS, passage_of_row
from holdfast.storage.ledger.recorded_answers import recorded_answer
from holdfast.storage.plans.task_transactions import source_key


class LoopAttempt(NamedTuple):
    """An attempt at an agent task."""

    task_id: str
    attempt: int


class ReadPassage(NamedTuple):
    """A numbered passage, with the step that read it."""

    number: int
    passage: SourcePassage
    step_id: str
    step_attempt: int


async def load_transcript(db: Database, job_id: str, place: LoopAttempt) -> Transcript:
    """Return the transcript since its last compaction, and all its passages."""
    messages = select(loop_messages).where(*_of(loop_messages, job_id, place)).order_by("position")
    passages = (
        select(loop_passages, *PASSAGE_COLUMNS)
        .join(sources, sources.c.id == loop_passages.c.source_id)
        .where(*_of(loop_passages, job_id, place))
        .order_by(loop_passages.c.number)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(messages)).all()
        read = (await connection.execute(passages)).all()
    compactions = max((row.compaction for row in rows), default=0)
    return Transcript(
        messages=tuple(_message(row) for row in rows if row.compaction == compactions),
        passages=tuple(_numbered(row) for row in read),
        compactions=compactions,
        replies=sum(row.role == "assistant" for row in rows),
        next_position=1 + max((row.position for row in rows), default=-1),
    )


async def store_messages(
    write: JobTransaction,
    place: LoopAttempt,
    messages: Sequence[TranscriptMessage],
    compactions: int,
) -> None:
    """Store messages; one that is stored already does not change."""
    rows = [
        {
            **_key(write.job_id, place),
            "position": each.position,
            "compaction": compactions,
            "role": each.role,
            "content": each.content,
            "steps": each.steps,
        }
        for each in messages
    ]
    if rows:
        await write.connection.execute(upsert(loop_messages).values(rows).on_conflict_do_nothing())


async def store_passages(
    write: JobTransaction, place: LoopAttempt, passages: Iterable[ReadPassage]
) -> None:
    """Store the numbers of passages, whose sources their steps have stored.

    Raises:
        NotFound: a source is gone.
    """
    for each in passages:
        row = {
            **_key(write.job_id, place),
            "number": each.number,
            "source_id": await _source_id(write, each.passage),
            "step_id": each.step_id,
            "step_attempt": each.step_attempt,
        }
        await write.connection.execute(upsert(loop_passages).values(row).on_conflict_do_nothing())


async def answers_of_steps(
    db: Database, job_id: str, step_ids: Sequence[str]
) -> Mapping[str, ToolAnswer]:
    """Return the recorded answer of the newest answered call of each step."""
    query = (
        select(tool_calls.c.task_id, tool_calls.c.tool, tool_calls.c.response)
        .where(tool_calls.c.job_id == job_id, tool_calls.c.task_id.in_(step_ids))
        .where(tool_calls.c.status == CallStatus.DONE.value)
        .order_by(tool_calls.c.id)
    )
    async with db.reading() as connection:
        rows = (await connection.execute(query)).all()
    return {row.task_id: recorded_answer(row.response, row.tool) for row in rows}


async def _source_id(write: JobTransaction, passage: SourcePassage) -> int:
    key = source_key(passage)
    query = select(sources.c.id).where(*(sources.c[name] == key[name] for name in key))
    found = (await write.connection.execute(query)).scalar_one_or_none()
    if found is None:
        raise NotFound(f"the source of the passage at {passage.address!r} is not stored")
    return int(found)


def _of(table: Any, job_id: str, place: LoopAttempt) -> tuple[Any, ...]:  # noqa: ANN401 - a table
    return (
        table.c.job_id == job_id,
        table.c.task_id == place.task_id,
        table.c.attempt == place.attempt,
    )


def _key(job_id: str, place: LoopAttempt) -> dict[str, Any]:
    return {"job_id": job_id, "task_id": place.task_id, "attempt": place.attempt}


def _message(row: Any) -> TranscriptMessage:  # noqa: ANN401 - a row
    steps = tuple(tuple(each) for each in row.steps)
    return TranscriptMessage(position=row.position, role=row.role, content=row.content, steps=steps)


def _numbered(row: Any) -> NumberedPassage:  # noqa: ANN401 - a row
    return NumberedPassage(
        number=row.number,
        source_id=row.source_id,
        step_id=row.step_id,
        attempt=row.step_attempt,
        passage=passage_of_row(row),
    )
