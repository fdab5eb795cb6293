"""Define the tables of cited loops: transcripts, their passages, and proven answers."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Table
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.storage.core.tables.columns import StorableText, foreign_key_to_task, time_column
from holdfast.storage.core.tables.metadata import metadata


def _attempt_columns() -> list[Column[object]]:
    """Return the key columns of an attempt at an agent task."""
    return [
        Column("job_id", StorableText, primary_key=True),
        Column("task_id", StorableText, primary_key=True),
        Column("attempt", Integer, primary_key=True, autoincrement=False),
    ]


loop_messages = Table(
    "loop_messages",
    metadata,
    *_attempt_columns(),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column(
        "compaction",
        Integer,
        nullable=False,
        comment="how often the transcript was compacted before; only the last counts",
    ),
    Column("role", StorableText, nullable=False),
    Column("content", StorableText, nullable=False),
    Column("steps", JSONB, nullable=False, comment="for each call of a reply, its step ids"),
    time_column("created_at", is_now=True),
    foreign_key_to_task("loop_messages"),
)

loop_passages = Table(
    "loop_passages",
    metadata,
    *_attempt_columns(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("source_id", BigInteger, ForeignKey("sources.id"), nullable=False, index=True),
    Column("step_id", StorableText, nullable=False, comment="the step whose answer has it"),
    Column("step_attempt", Integer, nullable=False),
    foreign_key_to_task("loop_passages"),
)

loop_results = Table(
    "loop_results",
    metadata,
    *_attempt_columns(),
    Column("body", JSONB, nullable=False, comment="the proven answer"),
    time_column("created_at", is_now=True),
    foreign_key_to_task("loop_results"),
)
