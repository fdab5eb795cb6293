"""Define the tables of plans: changes, tasks, and the results of task attempts."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    Integer,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from holdfast.models.plans.research_plan import TaskKind, TaskStatus
from holdfast.storage.core.tables.columns import (
    EMPTY,
    StorableText,
    foreign_key_to_task,
    job_column,
    time_column,
    word_constraint,
)
from holdfast.storage.core.tables.metadata import metadata

plan_changes = Table(
    "plan_changes",
    metadata,
    job_column(is_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column(
        "cause",
        StorableText,
        nullable=False,
        comment="why the plan changed, such as planned, replanned",
    ),
    Column(
        "scope",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the agent task whose steps changed, or empty",
    ),
    Column("failed_task", StorableText),
    Column("explanation", StorableText, nullable=False, server_default=EMPTY),
    Column("added", ARRAY(StorableText), nullable=False),
    Column("superseded", ARRAY(StorableText), nullable=False),
    Column(
        "changed",
        JSONB,
        nullable=False,
        server_default=text("'[]'"),
        comment="fields with old and new values",
    ),
    Column("depth", Integer, nullable=False),
    Column("breadth", Float, nullable=False),
    time_column("created_at", is_now=True),
)

tasks = Table(
    "tasks",
    metadata,
    job_column(is_key=True),
    Column("id", StorableText, primary_key=True),
    Column("position", Integer, nullable=False, comment="order of planning, from 1"),
    Column("kind", StorableText, nullable=False),
    Column("description", StorableText, nullable=False),
    Column("criteria", StorableText, nullable=False, server_default=EMPTY),
    Column("tool", StorableText, nullable=False, server_default=EMPTY),
    Column("agent", StorableText, nullable=False, server_default=EMPTY),
    Column(
        "parent",
        StorableText,
        nullable=False,
        server_default=EMPTY,
        comment="the agent task that it is a step of",
    ),
    Column("inputs", JSONB, nullable=False),
    Column("expects", JSONB, nullable=False),
    Column("depends_on", ARRAY(StorableText), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("include_context", Boolean, nullable=False),
    Column("status", StorableText, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("root", StorableText, nullable=False, comment="the first task of its lineage"),
    Column("added_by_change", Integer, nullable=False, comment="the plan change that added it"),
    Column("confidence", Float),
    Column("failure", JSONB(none_as_null=True)),
    Column("trace", JSONB(none_as_null=True), comment="reasoning steps, or a summary"),
    Column("notes", JSONB(none_as_null=True), comment="an agent's plan and last guidance"),
    Column("contradicts_plan", Boolean, nullable=False, server_default=text("false")),
    time_column("started_at"),
    time_column("finished_at"),
    Column(
        "worked_s",
        Float,
        nullable=False,
        server_default=text("0"),
        comment="how long workers worked on this attempt; of an agent: its own turns",
    ),
    UniqueConstraint("job_id", "position"),
    word_constraint("kind", TaskKind),
    word_constraint("status", TaskStatus),
    CheckConstraint("priority between 1 and 10", name="priority"),
)

attempt_results = Table(
    "attempt_results",
    metadata,
    Column("job_id", StorableText, primary_key=True),
    Column("task_id", StorableText, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("entities", JSONB, nullable=False, comment="the entities of this attempt alone"),
    Column("confidence", Float),
    Column("is_chosen", Boolean, nullable=False, server_default=text("true")),
    time_column("created_at", is_now=True),
    foreign_key_to_task("attempt_results"),
)
