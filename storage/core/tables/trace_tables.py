"""Define the tables of trace exports: which spans of which jobs a collector has."""

from sqlalchemy import CheckConstraint, Column, DateTime, Integer, Table

from holdfast.storage.core.tables.columns import EMPTY, StorableText, job_column, time_column
from holdfast.storage.core.tables.metadata import metadata

sent_spans = Table(
    "sent_spans",
    metadata,
    job_column(is_key=True),
    Column("span_id", StorableText, primary_key=True),
)

sent_traces = Table(
    "sent_traces",
    metadata,
    job_column(is_key=True),
    Column(
        "attempt",
        Integer,
        nullable=False,
        comment="of the job whose trace is with the collector",
    ),
)

trace_exporter = Table(
    "trace_exporter",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("holder", StorableText, nullable=False, server_default=EMPTY),
    time_column("leased_until"),
    Column(
        "exported_until",
        DateTime(timezone=True),
        comment="the traces of all jobs that ended before are sent; null: none was ever sent",
    ),
    CheckConstraint("id = 1", name="one_row"),
)
"""One row: the worker that exports now, so that two never send the same span."""
