"""Define the tables of API keys and of the audit."""

from sqlalchemy import BigInteger, Column, DateTime, Identity, Index, Integer, Table
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.storage.core.tables.columns import EMPTY, StorableText, time_column
from holdfast.storage.core.tables.metadata import metadata

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("name", StorableText, nullable=False),
    Column("owner", StorableText, nullable=False),
    Column("scopes", JSONB, nullable=False),
    Column(
        "secret_hash", StorableText, nullable=False, comment="SHA-256 of 32 random bytes, in hex"
    ),
    time_column("created_at", is_now=True),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    time_column("revoked_at"),
    time_column("last_used_at"),
    Column(
        "replaces",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the key that this one was made from by rotation",
    ),
)
"""A revoked key stays, because the audit names it."""

audit_entries = Table(
    "audit_entries",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    time_column("at", is_now=True),
    Column("actor", StorableText, nullable=False),
    Column("key_id", StorableText, nullable=False, server_default=EMPTY),
    Column("action", StorableText, nullable=False),
    Column("resource", StorableText, nullable=False),
    Column("refused", Integer, comment="the HTTP status of a refusal; null: begun"),
    Index("ix_audit_entries_actor_id", "actor", "id"),
)
"""Not bound to a job, whose removal leaves its entries; a trigger refuses every change."""
