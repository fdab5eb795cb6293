"""Define the tables of evidence: entities, sources, quotes, and checks of sources."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.evidence.evidence import EvidenceStatus
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    foreign_key_to_task,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

entities = Table(
    "entities",
    metadata,
    Column("job_id", StorableText, primary_key=True),
    Column("task_id", StorableText, primary_key=True),
    Column("name", StorableText, primary_key=True),
    Column("type", StorableText, nullable=False),
    Column("value", JSONB),
    Column("confidence", Float),
    Column("description", StorableText, nullable=False, server_default=EMPTY),
    foreign_key_to_task("entities"),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
)

sources = Table(
    "sources",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("sha256", StorableText, nullable=False, comment="SHA-256 of the text"),
    Column("address", StorableText, nullable=False),
    Column("title", StorableText, nullable=False),
    Column("heading", StorableText, nullable=False, server_default=EMPTY),
    Column(
        "published",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="ISO 8601, as the tool reported it",
    ),
    Column(
        "tool",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the tool that returned it first",
    ),
    Column(
        "via",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the user's own tool server that reported it, or empty",
    ),
    Column("text", StorableText, nullable=False, comment="the exact text that was read"),
    Column("start_char", Integer, nullable=False, comment="where the text starts in its document"),
    Column("end_char", Integer, nullable=False),
    time_column("fetched_at", is_now=True),
    # Without `via` the title and date of one server would apply to another server's text.
    UniqueConstraint("sha256", "address", "start_char", "via"),
)

evidence = Table(
    "evidence",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("job_id", StorableText, nullable=False),
    Column("task_id", StorableText, nullable=False),
    Column("entity", StorableText, nullable=False),
    Column("source_id", BigInteger, ForeignKey("sources.id"), nullable=False, index=True),
    Column(
        "start_char", Integer, nullable=False, comment="start of the quote in the source's text"
    ),
    Column("end_char", Integer, nullable=False),
    Column("quote", StorableText, nullable=False),
    Column("status", StorableText, nullable=False, server_default="active"),
    Column("attempt", Integer, nullable=False, server_default="1", comment="the task attempt"),
    foreign_key_to_task("evidence"),
    Index("ix_evidence_job_id_task_id", "job_id", "task_id"),
    word_constraint("status", EvidenceStatus),
    CheckConstraint("start_char >= 0 and end_char > start_char", name="range"),
)

source_checks = Table(
    "source_checks",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column(
        "evidence_id",
        BigInteger,
        ForeignKey("evidence.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    time_column("checked_at", is_now=True),
    Column("verdict", StorableText, nullable=False),
    Column("note", StorableText, nullable=False, server_default=EMPTY),
    Column(
        "nearest_text",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the text that is there now",
    ),
    word_constraint("verdict", SourceDrift),
)
