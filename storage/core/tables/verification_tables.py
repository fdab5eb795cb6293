"""Define the tables of verification: verdicts on tasks, and the stop conditions per round."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Float, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.verification.verification_verdicts import Completeness, Recommendation
from holdfast.storage.core.tables.columns import (
    StorableText,
    foreign_key_to_task,
    job_column,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

verifications = Table(
    "verifications",
    metadata,
    Column("job_id", StorableText, primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("task_id", StorableText, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("status", StorableText, nullable=False),
    Column("completeness", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("missing", JSONB, nullable=False),
    Column("contradictions", JSONB, nullable=False),
    Column("recommendation", StorableText, nullable=False),
    Column("is_carried_over", Boolean, nullable=False),
    Column("model", StorableText, nullable=False),
    time_column("created_at", is_now=True),
    foreign_key_to_task("verifications"),
    word_constraint("status", Completeness),
    CheckConstraint("completeness between 0 and 1", name="completeness"),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
    word_constraint("recommendation", Recommendation),
)

stop_log = Table(
    "stop_log",
    metadata,
    job_column(is_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("complete", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("conditions", JSONB, nullable=False),
    Column("fired", StorableText),
    Column("is_filled", Boolean, nullable=False, server_default=text("false")),
    time_column("created_at", is_now=True),
)
