"""agents with steps, verification, questions, budgets."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_EMPTY = sa.text("''")
_LIST = sa.text("'[]'")
_NOW = sa.func.now()


def upgrade() -> None:
    _add_columns()
    op.create_table(
        "attempt_results",
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("task_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column(
            "entities", JSONB, nullable=False, comment="as in entities, of this attempt alone"
        ),
        sa.Column("confidence", sa.Float),
        sa.Column("is_kept", sa.Boolean, nullable=False, server_default=sa.text("true")),
        _created(),
        _task_of_job("attempt_results"),
        sa.PrimaryKeyConstraint("job_id", "task_id", "attempt", name="pk_attempt_results"),
    )
    op.create_table(
        "verifications",
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("iteration", sa.Integer, nullable=False),
        sa.Column("task_id", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("completeness", sa.Float, nullable=False),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("missing", JSONB, nullable=False),
        sa.Column("contradictions", JSONB, nullable=False),
        sa.Column("recommendation", sa.Text, nullable=False),
        sa.Column("is_carried", sa.Boolean, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        _created(),
        _task_of_job("verifications"),
        sa.PrimaryKeyConstraint("job_id", "iteration", "task_id", name="pk_verifications"),
        sa.CheckConstraint(
            "status in ('complete', 'partial', 'incomplete')", name="ck_verifications_status"
        ),
        sa.CheckConstraint("completeness between 0 and 1", name="ck_verifications_completeness"),
        sa.CheckConstraint("confidence between 0 and 1", name="ck_verifications_confidence"),
        sa.CheckConstraint(
            "recommendation in ('accept', 'retry', 'escalate')",
            name="ck_verifications_recommendation",
        ),
    )
    op.create_table(
        "stop_checks",
        _job(),
        sa.Column("iteration", sa.Integer, nullable=False),
        sa.Column("complete", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("conditions", JSONB, nullable=False),
        sa.Column("fired", sa.Text),
        sa.Column("is_filled", sa.Boolean, nullable=False, server_default=sa.text("false")),
        _created(),
        sa.PrimaryKeyConstraint("job_id", "iteration", name="pk_stop_checks"),
    )
    _create_questions()


def _create_questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        _job(),
        sa.Column("key", sa.Text, nullable=False, comment="what asking twice is told apart by"),
        sa.Column("task_id", sa.Text, nullable=False, server_default=_EMPTY),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("choices", JSONB, nullable=False),
        sa.Column("default_answer", sa.Text),
        sa.Column("deadline", sa.DateTime(timezone=True)),
        sa.Column("status", sa.Text, nullable=False, server_default="open"),
        sa.Column("answer", sa.Text),
        sa.Column("origin", sa.Text),
        sa.Column("answered_by", sa.Text, nullable=False, server_default=_EMPTY),
        sa.Column("trail", JSONB, nullable=False, server_default=_LIST),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False, server_default=_NOW),
        sa.Column("answered_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("job_id", "key", name="uq_questions_job_id_key"),
        sa.CheckConstraint(
            "kind in ('approval', 'question', 'escalation', 'budget')", name="ck_questions_kind"
        ),
        sa.CheckConstraint(
            "status in ('open', 'answered', 'withdrawn')", name="ck_questions_status"
        ),
        sa.CheckConstraint(
            "origin in ('memory', 'evidence', 'task', 'user', 'default')",
            name="ck_questions_origin",
        ),
    )


def _add_columns() -> None:
    op.add_column("jobs", sa.Column("considered", sa.Integer, nullable=False, server_default="0"))
    op.add_column(
        "jobs", sa.Column("estimate", JSONB, comment="what it was to cost, before it ran")
    )
    op.add_column(
        "plan_revisions",
        sa.Column(
            "scope",
            sa.Text,
            nullable=False,
            server_default=_EMPTY,
            comment="the agent task, or none",
        ),
    )
    op.add_column(
        "plan_revisions",
        sa.Column("changed", JSONB, nullable=False, server_default=_LIST, comment="old and new"),
    )
    for name, comment in (("agent", None), ("parent", "whose step it is")):
        column = sa.Column(name, sa.Text, nullable=False, server_default=_EMPTY, comment=comment)
        op.add_column("tasks", column)
    op.add_column("tasks", sa.Column("notes", JSONB, comment="an agent's plan and last guidance"))
    op.add_column(
        "tasks",
        sa.Column("contradicts_plan", sa.Boolean, nullable=False, server_default=sa.text("false")),
    )
    op.drop_constraint("ck_tasks_kind", "tasks")
    op.create_check_constraint(
        op.f("ck_tasks_kind"), "tasks", "kind in ('tool', 'reasoning', 'agent')"
    )
    op.add_column(
        "evidence",
        sa.Column("attempt", sa.Integer, nullable=False, server_default="1", comment="of the task"),
    )
    op.add_column(
        "llm_calls",
        sa.Column(
            "cost", sa.Numeric, comment="by the prices of that time; null: they were unknown"
        ),
    )
    op.add_column(
        "llm_calls",
        sa.Column(
            "reserved_tokens",
            sa.BigInteger,
            nullable=False,
            server_default="0",
            comment="under way",
        ),
    )
    op.add_column("llm_calls", sa.Column("reserved_cost", sa.Numeric))


def _job() -> sa.Column[str]:
    target = sa.ForeignKey("jobs.id", ondelete="CASCADE")
    return sa.Column("job_id", sa.Text, target, nullable=False)


def _created() -> sa.Column[object]:
    at = sa.DateTime(timezone=True)
    return sa.Column("created_at", at, nullable=False, server_default=_NOW)


def _task_of_job(table: str) -> sa.ForeignKeyConstraint:
    columns, target = ["job_id", "task_id"], ["tasks.job_id", "tasks.id"]
    name = f"fk_{table}_task"
    return sa.ForeignKeyConstraint(columns, target, name=name, ondelete="CASCADE")


def downgrade() -> None:
    for table in ("questions", "stop_checks", "verifications", "attempt_results"):
        op.drop_table(table)
    for name in ("cost", "reserved_tokens", "reserved_cost"):
        op.drop_column("llm_calls", name)
    op.drop_column("evidence", "attempt")
    op.execute("delete from jobs where id in (select job_id from tasks where kind = 'agent')")
    op.drop_constraint("ck_tasks_kind", "tasks")
    op.create_check_constraint(op.f("ck_tasks_kind"), "tasks", "kind in ('tool', 'reasoning')")
    for name in ("contradicts_plan", "notes", "parent", "agent"):
        op.drop_column("tasks", name)
    for name in ("changed", "scope"):
        op.drop_column("plan_revisions", name)
    for name in ("estimate", "considered"):
        op.drop_column("jobs", name)
