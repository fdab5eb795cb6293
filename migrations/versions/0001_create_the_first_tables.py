"""create the first tables."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column(
            "address", sa.Text(), nullable=False, comment="path below the collection's folder"
        ),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False, comment="of the file's bytes"),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column(
            "added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("collection", "address", name=op.f("uq_documents_collection_address")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("preset", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("strategy", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("collection", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("owner", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("config_hash", sa.Text(), nullable=False),
        sa.Column(
            "request_key", sa.Text(), nullable=True, comment="what `submit --id` gave, if anything"
        ),
        sa.Column("request_hash", sa.Text(), nullable=False, comment="of the whole request"),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column(
            "epoch",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="one per workflow run",
        ),
        sa.Column(
            "run_id", sa.Text(), nullable=True, comment="the workflow run that holds the epoch"
        ),
        sa.Column("last_event", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("breadth", sa.Float(), server_default="0", nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_jobs_status"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("request_key", name=op.f("uq_jobs_request_key")),
    )
    op.create_index("ix_jobs_created_at", "jobs", ["created_at"], unique=False)
    op.create_index("ix_jobs_status_created_at", "jobs", ["status", "created_at"], unique=False)
    op.create_table(
        "sources",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False, comment="of the text"),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("heading", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("text", sa.Text(), nullable=False, comment="what was read, letter by letter"),
        sa.Column(
            "start_char",
            sa.Integer(),
            nullable=False,
            comment="where the text starts in its document",
        ),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column(
            "fetched_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint(
            "sha256", "address", "start_char", name=op.f("uq_sources_sha256_address_start_char")
        ),
    )
    op.create_table(
        "events",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_events_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "seq", name=op.f("pk_events")),
    )
    op.create_table(
        "llm_calls",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column(
            "part", sa.Text(), nullable=False, comment="which call of this task: 1, 2, chunk3/1"
        ),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "sends", sa.Integer(), server_default="1", nullable=False, comment="times it left"
        ),
        sa.Column("reused", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("finish", sa.Text(), nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reasoning_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("is_estimated", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "status in ('started', 'done', 'failed', 'refused')", name=op.f("ck_llm_calls_status")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_llm_calls_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_llm_calls")),
        sa.UniqueConstraint(
            "job_id",
            "task_id",
            "attempt",
            "role",
            "part",
            "request_hash",
            name=op.f("uq_llm_calls_job_id_task_id_attempt_role_part_request_hash"),
        ),
    )
    op.create_table(
        "passages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("document_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "collection",
            sa.Text(),
            nullable=False,
            comment="as in documents: keeps search in one scan",
        ),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("start_char", sa.Integer(), nullable=False),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column(
            "context",
            sa.Text(),
            nullable=False,
            comment="title and heading, searched with the text",
        ),
        sa.Column(
            "tsv",
            postgresql.TSVECTOR(),
            sa.Computed(
                "to_tsvector('english'::regconfig, context || ' ' || text)", persisted=True
            ),
            nullable=True,
        ),
        sa.CheckConstraint("end_char > start_char", name=op.f("ck_passages_range")),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f("fk_passages_document_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_passages")),
    )
    op.create_index("ix_passages_collection", "passages", ["collection"], unique=False)
    op.create_index(op.f("ix_passages_document_id"), "passages", ["document_id"], unique=False)
    op.create_index("ix_passages_tsv", "passages", ["tsv"], unique=False, postgresql_using="gin")
    op.create_table(
        "plan_revisions",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False, comment="planned, or replanned"),
        sa.Column("failed_task", sa.Text(), nullable=True),
        sa.Column("explanation", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("added", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("superseded", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("breadth", sa.Float(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_plan_revisions_job_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("job_id", "revision", name="uq_plan_revisions_job_id_revision"),
    )
    op.create_table(
        "receipts",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_receipts_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "key", name=op.f("pk_receipts")),
    )
    op.create_table(
        "reports",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_reports_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_reports")),
    )
    op.create_table(
        "tasks",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False, comment="order of planning, from 1"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("criteria", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("tool", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("inputs", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("expects", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("depends_on", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("include_context", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "root", sa.Text(), nullable=False, comment="the task whose lineage this continues"
        ),
        sa.Column(
            "revision", sa.Integer(), nullable=False, comment="the plan revision that added it"
        ),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("failure", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column(
            "trace",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="reasoning steps, or a summary",
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind in ('tool', 'reasoning')", name=op.f("ck_tasks_kind")),
        sa.CheckConstraint(
            "status in ('pending', 'running', 'done', 'failed', 'superseded', 'cancelled')",
            name=op.f("ck_tasks_status"),
        ),
        sa.CheckConstraint("priority between 1 and 10", name=op.f("ck_tasks_priority")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_tasks_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_tasks_job_id_position")),
    )
    op.create_table(
        "tool_calls",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column(
            "part", sa.Text(), nullable=False, comment="which call of this task: 1, 2, chunk3/1"
        ),
        sa.Column("request_hash", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "sends", sa.Integer(), server_default="1", nullable=False, comment="times it left"
        ),
        sa.Column("reused", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column(
            "repeats",
            sa.BigInteger(),
            nullable=True,
            comment="the earlier identical call whose answer was taken",
        ),
        sa.Column("is_cut", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint(
            "status in ('started', 'done', 'failed', 'refused')", name=op.f("ck_tool_calls_status")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_tool_calls_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tool_calls")),
        sa.UniqueConstraint(
            "job_id",
            "task_id",
            "attempt",
            "tool",
            "part",
            "request_hash",
            name=op.f("uq_tool_calls_job_id_task_id_attempt_tool_part_request_hash"),
        ),
    )
    op.create_index(
        "ix_tool_calls_job_id_request_hash", "tool_calls", ["job_id", "request_hash"], unique=False
    )
    op.create_table(
        "entities",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("value", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("description", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.CheckConstraint("confidence between 0 and 1", name=op.f("ck_entities_confidence")),
        sa.ForeignKeyConstraint(
            ["job_id", "task_id"],
            ["tasks.job_id", "tasks.id"],
            name="fk_entities_task",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "task_id", "name", name=op.f("pk_entities")),
    )
    op.create_table(
        "evidence",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("entity", sa.Text(), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "start_char", sa.Integer(), nullable=False, comment="of the quote in the source's text"
        ),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.CheckConstraint(
            "status in ('active', 'superseded', 'retracted')", name=op.f("ck_evidence_status")
        ),
        sa.CheckConstraint(
            "start_char >= 0 and end_char > start_char", name=op.f("ck_evidence_range")
        ),
        sa.ForeignKeyConstraint(
            ["job_id", "task_id"],
            ["tasks.job_id", "tasks.id"],
            name="fk_evidence_task",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_evidence_source_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evidence")),
    )
    op.create_index("ix_evidence_job_id_task_id", "evidence", ["job_id", "task_id"], unique=False)
    op.create_index(op.f("ix_evidence_source_id"), "evidence", ["source_id"], unique=False)
    # Compressing a tool's answer with pglz takes five times as long as storing it as it is.
    op.execute("alter table tool_calls alter column response set storage external")
    op.execute("alter table sources alter column text set storage external")


def downgrade() -> None:
    op.drop_index(op.f("ix_evidence_source_id"), table_name="evidence")
    op.drop_index("ix_evidence_job_id_task_id", table_name="evidence")
    op.drop_table("evidence")
    op.drop_table("entities")
    op.drop_index("ix_tool_calls_job_id_request_hash", table_name="tool_calls")
    op.drop_table("tool_calls")
    op.drop_table("tasks")
    op.drop_table("reports")
    op.drop_table("receipts")
    op.drop_table("plan_revisions")
    op.drop_index("ix_passages_tsv", table_name="passages", postgresql_using="gin")
    op.drop_index(op.f("ix_passages_document_id"), table_name="passages")
    op.drop_index("ix_passages_collection", table_name="passages")
    op.drop_table("passages")
    op.drop_table("llm_calls")
    op.drop_table("events")
    op.drop_table("sources")
    op.drop_index("ix_jobs_status_created_at", table_name="jobs")
    op.drop_index("ix_jobs_created_at", table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("documents")
