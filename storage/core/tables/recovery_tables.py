"""Define the tables of recoveries after a loss of a worker or server, and of stalled workers."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    text,
)

from holdfast.models.jobs.job_recovery import LossCause
from holdfast.storage.core.tables.columns import StorableText, job_column, word_constraint
from holdfast.storage.core.tables.metadata import metadata

recoveries = Table(
    "recoveries",
    metadata,
    job_column(is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("cause", StorableText, nullable=False),
    Column(
        "lost_worker",
        StorableText,
        nullable=False,
        comment="the identity of the worker that died, or empty",
    ),
    Column(
        "last_seen_at", DateTime(timezone=True), nullable=False, comment="the last sign of life"
    ),
    Column("resumed_at", DateTime(timezone=True), nullable=False, comment="when work continued"),
    word_constraint("cause", LossCause),
    Index(
        "uq_recoveries_job_id_lost_worker",
        "job_id",
        "lost_worker",
        unique=True,
        postgresql_where=text("cause = 'worker'"),
    ),
)

recovered_calls = Table(
    "recovered_calls",
    metadata,
    Column("job_id", StorableText, primary_key=True),
    Column("recovery", Integer, primary_key=True, autoincrement=False),
    Column("kind", StorableText, primary_key=True),
    Column("call_id", BigInteger, primary_key=True, autoincrement=False),
    Column(
        "was_reused",
        Boolean,
        nullable=False,
        comment="true: reused from the ledger; false: sent again",
    ),
    ForeignKeyConstraint(
        ["job_id", "recovery"],
        ["recoveries.job_id", "recoveries.number"],
        name="fk_recovered_calls_recovery",
        ondelete="CASCADE",
    ),
    CheckConstraint("kind in ('model', 'tool')", name="kind"),
)

worker_stalls = Table(
    "worker_stalls",
    metadata,
    Column("worker", StorableText, primary_key=True, comment="the identity of the killed worker"),
    job_column(is_indexed=True),
    Column("run_id", StorableText, nullable=False),
    Column(
        "activity_id", StorableText, nullable=False, comment="the activity that the loop ran last"
    ),
    Column("stalled_at", DateTime(timezone=True), nullable=False),
)
