"""Define the tables of webhooks and of their outbox, which a trigger of the job's log fills."""

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.storage.core.tables.columns import EMPTY, StorableText, time_column
from holdfast.storage.core.tables.metadata import metadata

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("owner", StorableText, nullable=False, index=True),
    Column(
        "job_id",
        StorableText,
        ForeignKey("jobs.id", ondelete="CASCADE"),
        index=True,
        comment="null: every job of the owner",
    ),
    Column("url", StorableText, nullable=False),
    Column("events", JSONB, nullable=False),
    Column(
        "secret",
        StorableText,
        nullable=False,
        comment="signs what is sent, so a hash is not enough",
    ),
    time_column("created_at", is_now=True),
    Column(
        "replaced_secret",
        StorableText,
        comment="signs next to the secret until replaced_secret_ends_at",
    ),
    time_column("replaced_secret_ends_at"),
    Column(
        "key_id",
        StorableText,
        comment="null: every job of the owner; else those of this key and of keys that replaced it",
    ),
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column(
        "webhook_id", StorableText, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False
    ),
    Column("job_id", StorableText, ForeignKey("jobs.id", ondelete="CASCADE"), index=True),
    Column("seq", BigInteger),
    Column("event", StorableText, nullable=False),
    Column("data", JSONB, nullable=False),
    time_column("created_at", is_now=True),
    Column(
        "next_attempt_at",
        DateTime(timezone=True),
        server_default=func.now(),
        comment="null: delivered or given up; while an attempt runs, when another worker may try",
    ),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    time_column("delivered_at"),
    Column("last_error", StorableText, nullable=False, server_default=EMPTY),
    Index("ix_webhook_deliveries_webhook_id", "webhook_id", "id"),
    Index(
        "ix_webhook_deliveries_next_attempt_at",
        "next_attempt_at",
        postgresql_where=text("next_attempt_at is not null"),
    ),
)
"""The outbox: rows are stored in the transaction of the event, and are sent by the workers."""
