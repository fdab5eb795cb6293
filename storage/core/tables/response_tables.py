"""Define the table of responses of the Responses API."""

from sqlalchemy import BigInteger, Column, Table
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.storage.core.tables.columns import StorableText, job_column, time_column
from holdfast.storage.core.tables.metadata import metadata

responses = Table(
    "responses",
    metadata,
    Column("id", StorableText, primary_key=True),
    job_column(is_indexed=True),
    Column(
        "after",
        BigInteger,
        nullable=False,
        comment="the response is the job's log after this entry",
    ),
    Column("request", JSONB, nullable=False, comment="what the client sent"),
    time_column("created_at", is_now=True),
)
