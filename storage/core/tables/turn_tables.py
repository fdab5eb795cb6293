"""Define the tables of model turns, which count towards limits, and of pauses of models."""

from sqlalchemy import BigInteger, Column, DateTime, Identity, Index, Integer, Table

from holdfast.storage.core.tables.columns import StorableText, time_column
from holdfast.storage.core.tables.metadata import metadata

model_turns = Table(
    "model_turns",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("model", StorableText, nullable=False),
    Column("call_id", BigInteger, nullable=False, comment="the row of model_calls"),
    Column("tokens", BigInteger, nullable=False, comment="an estimate until the call has ended"),
    time_column("began_at", is_now=True),
    time_column("ended_at"),
    Index("ix_model_turns_model_began_at", "model", "began_at"),
)
"""Not bound to a job: a minute's calls count whether or not their job still exists."""

model_pauses = Table(
    "model_pauses",
    metadata,
    Column("model", StorableText, primary_key=True),
    Column(
        "since",
        DateTime(timezone=True),
        nullable=False,
        comment="the first refusal since the last answer",
    ),
    Column("until", DateTime(timezone=True), nullable=False),
    Column(
        "refusals",
        Integer,
        nullable=False,
        comment="pauses in a row, without an answer between",
    ),
)
"""Not bound to a job: the endpoint refuses everybody."""
