"""Define the table of documents that were uploaded to collections."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.corpus.document_uploads import UploadStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

document_uploads = Table(
    "document_uploads",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("owner", StorableText, nullable=False),
    Column("collection", StorableText, nullable=False),
    Column("replaces_collection", Boolean, nullable=False),
    Column("metadata", JSONB, nullable=False),
    Column("language", StorableText, comment="that the collection gets; null: its own stays"),
    Column("files", Integer, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("status", StorableText, nullable=False),
    Column("progress", JSONB, nullable=False),
    Column("result", JSONB(none_as_null=True)),
    Column("message", StorableText, nullable=False, server_default=EMPTY),
    time_column("created_at", is_now=True),
    time_column("finished_at"),
    word_constraint("status", UploadStatus),
    Index("ix_document_uploads_owner_created_at", "owner", "created_at"),
)
"""The files themselves lie in the home folder of the server that took them."""
