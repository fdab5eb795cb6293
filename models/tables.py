"""The tables of PostgreSQL; only `storage` imports this. Migrations follow it, a test compares."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    Table,
    TypeDecorator,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy import Text as PlainText
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.engine import Dialect
from sqlalchemy.types import UserDefinedType

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMES)


class Text(TypeDecorator[str]):
    """Text of whatever origin: NUL and lone surrogates, which PostgreSQL refuses, are replaced.

    A model's or a page's odd character must not fail a write that pays for its call again.
    """

    impl = PlainText
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        if value is None:
            return None
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


_NOW = func.now()
_EMPTY = text("''")


def _at(name: str, *, is_now: bool = False) -> Column[object]:
    default = _NOW if is_now else None
    return Column(name, DateTime(timezone=True), nullable=not is_now, server_default=default)


def _job() -> Column[str]:
    return Column("job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)


def _task_of_job(table: str) -> ForeignKeyConstraint:
    name = f"fk_{table}_task"
    columns, target = ["job_id", "task_id"], ["tasks.job_id", "tasks.id"]
    return ForeignKeyConstraint(columns, target, name=name, ondelete="CASCADE")


jobs = Table(
    "jobs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("strategy", JSONB, nullable=False),
    Column("collection", Text, nullable=False, server_default=_EMPTY),
    Column(
        "servers",
        JSONB,
        nullable=False,
        server_default=text("'[]'"),
        comment="whose tools it may use; empty: all",
    ),
    Column("owner", Text, nullable=False, server_default=_EMPTY),
    Column("config_hash", Text, nullable=False),
    Column("request_key", Text, unique=True, comment="what `submit --id` gave, if anything"),
    Column("request_hash", Text, nullable=False, comment="of the whole request"),
    Column("status", Text, nullable=False),
    Column("stop_reason", Text),
    Column("message", Text, nullable=False, server_default=_EMPTY),
    Column("answer", JSONB(none_as_null=True)),
    Column("epoch", Integer, nullable=False, server_default="0", comment="one per workflow run"),
    Column("run_id", Text, comment="the workflow run that holds the epoch"),
    Column(
        "attempt", Integer, nullable=False, server_default="1", comment="grows when it is reopened"
    ),
    Column("last_event", BigInteger, nullable=False, server_default="0"),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("depth", Integer, nullable=False, server_default="0"),
    Column("breadth", Float, nullable=False, server_default="0"),
    Column("considered", Integer, nullable=False, server_default="0"),
    Column("estimate", JSONB(none_as_null=True), comment="what it was to cost, before it ran"),
    _at("created_at", is_now=True),
    _at("started_at"),
    _at("finished_at"),
    CheckConstraint(
        "status in ('queued', 'running', 'paused', 'done', 'failed', 'cancelled')", name="status"
    ),
    Index("ix_jobs_created_at", "created_at"),
    Index("ix_jobs_status_created_at", "status", "created_at"),
    Index(
        "ix_jobs_question_words",
        text("to_tsvector('english'::regconfig, question)"),
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
        postgresql_where=text("status = 'done' and stop_reason = 'answered'"),
    ),
)

plan_revisions = Table(
    "plan_revisions",
    metadata,
    _job(),
    Column("revision", Integer, nullable=False),
    Column("cause", Text, nullable=False, comment="planned, or replanned"),
    Column("scope", Text, nullable=False, server_default=_EMPTY, comment="the agent task, or none"),
    Column("failed_task", Text),
    Column("explanation", Text, nullable=False, server_default=_EMPTY),
    Column("added", ARRAY(Text), nullable=False),
    Column("superseded", ARRAY(Text), nullable=False),
    Column("changed", JSONB, nullable=False, server_default=text("'[]'"), comment="old and new"),
    Column("depth", Integer, nullable=False),
    Column("breadth", Float, nullable=False),
    _at("created_at", is_now=True),
)
plan_revisions.append_constraint(
    UniqueConstraint("job_id", "revision", name="uq_plan_revisions_job_id_revision")
)

tasks = Table(
    "tasks",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("id", Text, primary_key=True),
    Column("position", Integer, nullable=False, comment="order of planning, from 1"),
    Column("kind", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("criteria", Text, nullable=False, server_default=_EMPTY),
    Column("tool", Text, nullable=False, server_default=_EMPTY),
    Column("agent", Text, nullable=False, server_default=_EMPTY),
    Column("parent", Text, nullable=False, server_default=_EMPTY, comment="whose step it is"),
    Column("inputs", JSONB, nullable=False),
    Column("expects", JSONB, nullable=False),
    Column("depends_on", ARRAY(Text), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("include_context", Boolean, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("root", Text, nullable=False, comment="the task whose lineage this continues"),
    Column("revision", Integer, nullable=False, comment="the plan revision that added it"),
    Column("confidence", Float),
    Column("failure", JSONB(none_as_null=True)),
    Column("trace", JSONB(none_as_null=True), comment="reasoning steps, or a summary"),
    Column("notes", JSONB(none_as_null=True), comment="an agent's plan and last guidance"),
    Column("contradicts_plan", Boolean, nullable=False, server_default=text("false")),
    _at("started_at"),
    _at("finished_at"),
    UniqueConstraint("job_id", "position"),
    CheckConstraint("kind in ('tool', 'reasoning', 'agent')", name="kind"),
    CheckConstraint(
        "status in ('pending', 'running', 'done', 'failed', 'superseded', 'cancelled')",
        name="status",
    ),
    CheckConstraint("priority between 1 and 10", name="priority"),
)

entities = Table(
    "entities",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("value", JSONB),
    Column("confidence", Float),
    Column("description", Text, nullable=False, server_default=_EMPTY),
    _task_of_job("entities"),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
)

attempt_results = Table(
    "attempt_results",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("task_id", Text, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("entities", JSONB, nullable=False, comment="as in entities, of this attempt alone"),
    Column("confidence", Float),
    Column("is_kept", Boolean, nullable=False, server_default=text("true")),
    _at("created_at", is_now=True),
    _task_of_job("attempt_results"),
)

verifications = Table(
    "verifications",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("iteration", Integer, primary_key=True, autoincrement=False),
    Column("task_id", Text, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("completeness", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("missing", JSONB, nullable=False),
    Column("contradictions", JSONB, nullable=False),
    Column("recommendation", Text, nullable=False),
    Column("is_carried", Boolean, nullable=False),
    Column("model", Text, nullable=False),
    _at("created_at", is_now=True),
    _task_of_job("verifications"),
    CheckConstraint("status in ('complete', 'partial', 'incomplete')", name="status"),
    CheckConstraint("completeness between 0 and 1", name="completeness"),
    CheckConstraint("confidence between 0 and 1", name="confidence"),
    CheckConstraint("recommendation in ('accept', 'retry', 'escalate')", name="recommendation"),
)

stop_checks = Table(
    "stop_checks",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("iteration", Integer, primary_key=True, autoincrement=False),
    Column("complete", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("conditions", JSONB, nullable=False),
    Column("fired", Text),
    Column("is_filled", Boolean, nullable=False, server_default=text("false")),
    _at("created_at", is_now=True),
)

questions = Table(
    "questions",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("key", Text, nullable=False, comment="what asking twice is told apart by"),
    Column("task_id", Text, nullable=False, server_default=_EMPTY),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("choices", JSONB, nullable=False),
    Column("default_answer", Text),
    _at("deadline"),
    Column("status", Text, nullable=False, server_default="open"),
    Column("answer", Text),
    Column("origin", Text),
    Column("answered_by", Text, nullable=False, server_default=_EMPTY),
    Column("trail", JSONB, nullable=False, server_default=text("'[]'")),
    _at("asked_at", is_now=True),
    _at("answered_at"),
    UniqueConstraint("job_id", "key"),
    CheckConstraint("kind in ('approval', 'question', 'escalation', 'budget')", name="kind"),
    CheckConstraint("status in ('open', 'answered', 'withdrawn')", name="status"),
    CheckConstraint("origin in ('memory', 'evidence', 'task', 'user', 'default')", name="origin"),
)

sources = Table(
    "sources",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("sha256", Text, nullable=False, comment="of the text"),
    Column("address", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("heading", Text, nullable=False, server_default=_EMPTY),
    Column("published", Text, nullable=False, server_default=_EMPTY, comment="ISO 8601, as told"),
    Column("tool", Text, nullable=False, server_default=_EMPTY, comment="that gave it first"),
    Column("via", Text, nullable=False, server_default=_EMPTY, comment="the user's own server"),
    Column("text", Text, nullable=False, comment="what was read, letter by letter"),
    Column("start_char", Integer, nullable=False, comment="where the text starts in its document"),
    Column("end_char", Integer, nullable=False),
    _at("fetched_at", is_now=True),
    # Without `via` one server's title and date would stand for what another one gave.
    UniqueConstraint("sha256", "address", "start_char", "via"),
)

evidence = Table(
    "evidence",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("job_id", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("entity", Text, nullable=False),
    Column("source_id", BigInteger, ForeignKey("sources.id"), nullable=False, index=True),
    Column("start_char", Integer, nullable=False, comment="of the quote in the source's text"),
    Column("end_char", Integer, nullable=False),
    Column("quote", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="active"),
    Column("attempt", Integer, nullable=False, server_default="1", comment="of the task"),
    _task_of_job("evidence"),
    Index("ix_evidence_job_id_task_id", "job_id", "task_id"),
    CheckConstraint("status in ('active', 'superseded', 'retracted')", name="status"),
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
    _at("checked_at", is_now=True),
    Column("verdict", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=_EMPTY),
    Column("nearest", Text, nullable=False, server_default=_EMPTY, comment="what stands there now"),
    CheckConstraint(
        "verdict in ('unchanged', 'moved', 'changed', 'gone', 'unreadable')", name="verdict"
    ),
)


def _call_columns() -> list[Column[object]]:
    """What model and tool calls share: the key, the outcome, the times, the reuse."""
    return [
        Column("id", BigInteger, Identity(), primary_key=True),
        Column("job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
        Column("task_id", Text, nullable=False, server_default=_EMPTY),
        Column("attempt", Integer, nullable=False),
        Column("part", Text, nullable=False, comment="which call of this task: 1, 2, chunk3/1"),
        Column("request_hash", Text, nullable=False),
        Column("request", Text, nullable=False),
        Column("response", Text),
        Column("status", Text, nullable=False),
        Column("error", Text),
        Column("sends", Integer, nullable=False, server_default="1", comment="times it left"),
        Column("reused", Integer, nullable=False, server_default="0"),
        _at("started_at", is_now=True),
        _at("finished_at"),
    ]


# `failed` may be sent again; `refused` came back with an error that stays; `unknown` was under way
# when the job ended.
_CALL_STATUS = "status in ('started', 'done', 'failed', 'refused', 'unknown')"

llm_calls = Table(
    "llm_calls",
    metadata,
    *_call_columns(),
    Column("role", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("finish", Text),
    Column("refusal", Text),
    Column("input_tokens", BigInteger, nullable=False, server_default="0"),
    Column("output_tokens", BigInteger, nullable=False, server_default="0"),
    Column("cached_tokens", BigInteger, nullable=False, server_default="0"),
    Column("reasoning_tokens", BigInteger, nullable=False, server_default="0"),
    Column("is_estimated", Boolean, nullable=False, server_default=text("false")),
    Column("cost", Numeric, comment="by the prices of that time; null: they were unknown"),
    Column("reserved_tokens", BigInteger, nullable=False, server_default="0", comment="under way"),
    Column("reserved_cost", Numeric),
    UniqueConstraint("job_id", "task_id", "attempt", "role", "part", "request_hash"),
    CheckConstraint(_CALL_STATUS, name="status"),
)

tool_calls = Table(
    "tool_calls",
    metadata,
    *_call_columns(),
    Column("tool", Text, nullable=False),
    Column("repeats", BigInteger, comment="the earlier identical call whose answer was taken"),
    Column("is_cut", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("job_id", "task_id", "attempt", "tool", "part", "request_hash"),
    Index("ix_tool_calls_job_id_request_hash", "job_id", "request_hash"),
    CheckConstraint(_CALL_STATUS, name="status"),
)

figures = Table(
    "figures",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
    Column("call_id", BigInteger, ForeignKey("tool_calls.id", ondelete="CASCADE"), nullable=False),
    Column("sha256", Text, nullable=False, comment="of the bytes"),
    Column("media_type", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("caption", Text, nullable=False, server_default=_EMPTY),
    Column("data", LargeBinary, nullable=False),
    _at("created_at", is_now=True),
    UniqueConstraint("call_id", "sha256"),
    Index("ix_figures_job_id_sha256", "job_id", "sha256"),
)

events = Table(
    "events",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    _at("at", is_now=True),
    Column("kind", Text, nullable=False),
    Column("task_id", Text, nullable=False, server_default=_EMPTY),
    Column("facts", JSONB, nullable=False),
)

receipts = Table(
    "receipts",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("key", Text, primary_key=True),
    Column("body", JSONB, nullable=False),
    _at("created_at", is_now=True),
)

reports = Table(
    "reports",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("body", JSONB, nullable=False),
    _at("created_at", is_now=True),
)

guidance = Table(
    "guidance",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("text", Text, nullable=False, comment="what the next planning is told"),
    Column("given_by", Text, nullable=False),
    _at("created_at", is_now=True),
    _at("accepted_at"),
)

recoveries = Table(
    "recoveries",
    metadata,
    Column(
        "job_id", Text, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True, nullable=False
    ),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("cause", Text, nullable=False),
    Column("lost", Text, nullable=False, comment="the identity of the worker that died, or empty"),
    Column("lost_at", DateTime(timezone=True), nullable=False, comment="the last sign of life"),
    Column("resumed_at", DateTime(timezone=True), nullable=False, comment="first work after it"),
    CheckConstraint("cause in ('worker', 'database')", name="cause"),
    Index(
        "uq_recoveries_job_id_lost",
        "job_id",
        "lost",
        unique=True,
        postgresql_where=text("cause = 'worker'"),
    ),
)

recovered_calls = Table(
    "recovered_calls",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("recovery", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),
    Column("call_id", BigInteger, primary_key=True, autoincrement=False),
    Column("was_reused", Boolean, nullable=False, comment="else it was in flight: sent again"),
    ForeignKeyConstraint(
        ["job_id", "recovery"],
        ["recoveries.job_id", "recoveries.number"],
        name="fk_recovered_calls_recovery",
        ondelete="CASCADE",
    ),
    CheckConstraint("kind in ('model', 'tool')", name="kind"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("collection", Text, nullable=False),
    Column("address", Text, nullable=False, comment="path below the collection's folder"),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sha256", Text, nullable=False, comment="of the file's bytes"),
    Column("size_bytes", BigInteger, nullable=False),
    _at("added_at", is_now=True),
    Column(
        "metadata",
        JSONB,
        nullable=False,
        server_default=text("'{}'"),
        comment="what searches filter by: texts and lists of texts; {} before it was read",
    ),
    Column("origin", Text, nullable=False, server_default=_EMPTY, comment="the folder it is from"),
    UniqueConstraint("collection", "address"),
)

passages = Table(
    "passages",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column(
        "document_id",
        BigInteger,
        ForeignKey("documents.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("collection", Text, nullable=False, comment="as in documents: keeps search in one scan"),
    Column("position", Integer, nullable=False),
    Column("heading", Text, nullable=False, server_default=_EMPTY),
    Column("start_char", Integer, nullable=False),
    Column("end_char", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("context", Text, nullable=False, comment="title and heading, searched with the text"),
    Column(
        "tsv",
        TSVECTOR,
        Computed("to_tsvector('english'::regconfig, context || ' ' || text)", persisted=True),
    ),
    Index("ix_passages_tsv", "tsv", postgresql_using="gin"),
    Index("ix_passages_collection", "collection"),
    CheckConstraint("end_char > start_char", name="range"),
)

collection_words = Table(
    "collection_words",
    metadata,
    Column("collection", Text, primary_key=True),
    Column("word", Text, primary_key=True, comment="a lexeme; '' stands for any passage at all"),
    Column("passages", BigInteger, nullable=False, comment="how many hold it"),
)


class Vector(UserDefinedType[str]):
    """pgvector's type, of any dimension; written and read as text: `[0.1,0.2]`."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "vector"


# So that reading the schema of a database knows the type.
ischema_names["vector"] = Vector

passage_vectors = Table(
    "passage_vectors",
    metadata,
    Column(
        "passage_id",
        BigInteger,
        ForeignKey("passages.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("collection", Text, nullable=False, comment="as in passages"),
    Column("model", Text, nullable=False, comment="only vectors of one model compare"),
    Column("dimension", Integer, nullable=False),
    Column("embedding", Vector, nullable=False),
    Index("ix_passage_vectors_collection_model", "collection", "model"),
)
"""There only where PostgreSQL has pgvector; see `storage.corpus_vectors`."""
