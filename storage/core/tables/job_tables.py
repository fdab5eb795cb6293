"""Define the tables of jobs: their state, events, receipts and reports."""

from sqlalchemy import BigInteger, Column, DateTime, Float, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.jobs.job_record import JobStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    job_column,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("question", StorableText, nullable=False),
    Column("preset", StorableText, nullable=False),
    Column("model", StorableText, nullable=False),
    Column("strategy", JSONB, nullable=False),
    Column("collection", StorableText, nullable=False, server_default=EMPTY),
    Column(
        "servers",
        JSONB,
        nullable=False,
        server_default=text("'[]'"),
        comment="tool servers that the job may use; empty: all",
    ),
    Column("owner", StorableText, nullable=False, server_default=EMPTY),
    Column(
        "key_id",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the API key that submitted the job, or empty",
    ),
    Column(
        "follow_up",
        JSONB(none_as_null=True),
        comment="the job that the question follows, and the questions before it; null: none",
    ),
    Column(
        "fork",
        JSONB(none_as_null=True),
        comment="the job that a fork began from, and what it runs again; null: no fork",
    ),
    Column("config_hash", StorableText, nullable=False),
    Column(
        "request_key",
        StorableText,
        unique=True,
        comment="the value of `submit --id`, if one was given",
    ),
    Column("request_hash", StorableText, nullable=False, comment="hash of the whole request"),
    Column("status", StorableText, nullable=False),
    Column("stop_reason", StorableText),
    Column("message", StorableText, nullable=False, server_default=EMPTY),
    Column("answer", JSONB(none_as_null=True)),
    Column(
        "epoch",
        Integer,
        nullable=False,
        server_default="0",
        comment="one per workflow run; only the newest may write",
    ),
    Column("run_id", StorableText, comment="the workflow run that holds the epoch"),
    Column(
        "attempt",
        Integer,
        nullable=False,
        server_default="1",
        comment="grows when the job is reopened",
    ),
    Column("last_event", BigInteger, nullable=False, server_default="0"),
    Column("plan_changes", Integer, nullable=False, server_default="0"),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("breadth", Float, nullable=False, server_default="0"),
    Column("results_considered", Integer, nullable=False, server_default="0"),
    Column(
        "estimate",
        JSONB(none_as_null=True),
        comment="estimated calls and tokens, from before it ran",
    ),
    time_column("created_at", is_now=True),
    time_column("started_at"),
    time_column("finished_at"),
    Column(
        "imported",
        JSONB(none_as_null=True),
        comment="the bundle that the job was imported from; null: it was asked here",
    ),
    Column(
        "responses_pruned_at",
        DateTime(timezone=True),
        comment="when the raw answers were removed; such a job cannot be reopened",
    ),
    Column(
        "events_pruned_at",
        DateTime(timezone=True),
        comment="when the log was removed, but for its last entry",
    ),
    word_constraint("status", JobStatus),
    Index("ix_jobs_created_at", "created_at"),
    Index(
        "ix_jobs_fork_job",
        text("(fork ->> 'job')"),
        postgresql_where=text("fork is not null"),
    ),
    Index("ix_jobs_finished_at", "finished_at", postgresql_where=text("finished_at is not null")),
    Index("ix_jobs_owner_created_at", "owner", "created_at"),
    Index("ix_jobs_status_created_at", "status", "created_at"),
    Index(
        "ix_jobs_question_words",
        text("to_tsvector('english'::regconfig, question)"),
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=text("status = 'done' and stop_reason = 'answered'"),
    ),
)

events = Table(
    "events",
    metadata,
    job_column(is_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    time_column("at", is_now=True),
    Column("kind", StorableText, nullable=False),
    Column("task_id", StorableText, nullable=False, server_default=EMPTY),
    Column("facts", JSONB, nullable=False),
)

receipts = Table(
    "receipts",
    metadata,
    job_column(is_key=True),
    Column("key", StorableText, primary_key=True),
    Column("body", JSONB, nullable=False),
    time_column("created_at", is_now=True),
)

reports = Table(
    "reports",
    metadata,
    job_column(is_key=True),
    Column("body", JSONB, nullable=False),
    time_column("created_at", is_now=True),
)
