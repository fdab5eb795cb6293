"""Define the tables of schedules and of their runs."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.models.schedules.overlap_policy import OverlapPolicy
from holdfast.models.schedules.schedule import ScheduleStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

schedules = Table(
    "schedules",
    metadata,
    Column("id", StorableText, primary_key=True),
    Column("owner", StorableText, nullable=False, index=True),
    Column("key_id", StorableText, nullable=False, server_default=EMPTY),
    Column("question", StorableText, nullable=False),
    Column("request", JSONB(none_as_null=True), comment="null: a report is updated"),
    Column("updated_job", StorableText, nullable=False, server_default=EMPTY),
    Column("searches_again", Boolean, nullable=False, server_default=text("false")),
    Column("times", StorableText, nullable=False),
    Column("time_zone", StorableText, nullable=False),
    Column("overlap", StorableText, nullable=False),
    Column("catch_up_s", BigInteger, nullable=False),
    Column("runs", Integer, comment="the schedule ends after so many; null: never"),
    Column("status", StorableText, nullable=False),
    Column("note", StorableText, nullable=False, server_default=EMPTY),
    time_column("created_at", is_now=True),
    time_column("continued_at", is_now=True),
    word_constraint("overlap", OverlapPolicy),
    word_constraint("status", ScheduleStatus),
)
"""Not bound to a job: the updated job may be removed, and the next run then says so."""

schedule_runs = Table(
    "schedule_runs",
    metadata,
    Column(
        "schedule_id",
        StorableText,
        ForeignKey("schedules.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("run", StorableText, primary_key=True, comment="the id of the run's workflow"),
    Column(
        "job_id",
        StorableText,
        ForeignKey("jobs.id", ondelete="SET NULL"),
        comment="null: the run had no job, or its job was removed",
    ),
    Column("note", StorableText, nullable=False, server_default=EMPTY),
    Column("changes", JSONB(none_as_null=True)),
    time_column("begun_at", is_now=True),
    Index("ix_schedule_runs_job_id", "job_id"),
)
