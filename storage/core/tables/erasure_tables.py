"""Define the table of erasures, whose rows are the receipts."""

from sqlalchemy import Column, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.access.erasures import ErasureSubject
from holdfast.storage.core.tables.columns import StorableText, time_column, word_constraint
from holdfast.storage.core.tables.metadata import metadata

erasures = Table(
    "erasures",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("kind", StorableText, nullable=False),
    Column("subject", StorableText, nullable=False, comment="the job's id or the owner's name"),
    Column("erased_by", StorableText, nullable=False),
    time_column("begun_at", is_now=True),
    time_column("ended_at"),
    Column("jobs", JSONB, nullable=False, server_default=text("'[]'")),
    Column("rows", JSONB, nullable=False, server_default=text("'{}'")),
    Column("workflow_runs", JSONB, nullable=False, server_default=text("'[]'")),
    Column("upload_folders", Integer, nullable=False, server_default=text("0")),
    Column("shared_sources", Integer, nullable=False, server_default=text("0")),
    Column("dependent_jobs", JSONB, nullable=False, server_default=text("'[]'")),
    word_constraint("kind", ErasureSubject),
)
"""Holds ids and numbers alone, so the receipt of an erasure keeps nothing of what was erased."""
