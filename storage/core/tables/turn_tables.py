"""Define the table of model turns: calls that count towards a model's limits."""

from sqlalchemy import BigInteger, Column, Identity, Index, Table

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
