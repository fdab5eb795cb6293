"""pause, steer and recover."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_CALL_STATUS = "status in ('started', 'done', 'failed', 'refused'{})"
_STATUS = "status in ('queued', 'running', {}'done', 'failed', 'cancelled')"


def upgrade() -> None:
    op.add_column(
        "jobs",
        sa.Column(
            "attempt",
            sa.Integer(),
            server_default="1",
            nullable=False,
            comment="grows when it is reopened",
        ),
    )
    op.drop_constraint(op.f("ck_jobs_status"), "jobs")
    op.create_check_constraint(op.f("ck_jobs_status"), "jobs", _STATUS.format("'paused', "))
    for table in ("llm_calls", "tool_calls"):
        op.drop_constraint(op.f(f"ck_{table}_status"), table)
        op.create_check_constraint(
            op.f(f"ck_{table}_status"), table, _CALL_STATUS.format(", 'unknown'")
        )
    op.create_table(
        "guidance",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False, comment="what the next planning is told"),
        sa.Column("given_by", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_guidance_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guidance")),
    )
    op.create_index(op.f("ix_guidance_job_id"), "guidance", ["job_id"], unique=False)
    op.create_table(
        "recoveries",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column(
            "lost",
            sa.Text(),
            nullable=False,
            comment="the identity of the worker that died, or empty",
        ),
        sa.Column(
            "lost_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="the last sign of life",
        ),
        sa.Column(
            "resumed_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="first work after it",
        ),
        sa.CheckConstraint("cause in ('worker', 'database')", name=op.f("ck_recoveries_cause")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_recoveries_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_recoveries")),
    )
    op.create_index(
        "uq_recoveries_job_id_lost",
        "recoveries",
        ["job_id", "lost"],
        unique=True,
        postgresql_where=sa.text("cause = 'worker'"),
    )
    op.create_table(
        "recovered_calls",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("recovery", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("call_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column(
            "was_reused",
            sa.Boolean(),
            nullable=False,
            comment="else it was in flight: sent again",
        ),
        sa.CheckConstraint("kind in ('model', 'tool')", name=op.f("ck_recovered_calls_kind")),
        sa.ForeignKeyConstraint(
            ["job_id", "recovery"],
            ["recoveries.job_id", "recoveries.number"],
            name="fk_recovered_calls_recovery",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "job_id", "recovery", "kind", "call_id", name=op.f("pk_recovered_calls")
        ),
    )

    # The log of a job is only ever added to; it goes with its job.
    op.execute("""
        create function refuse_change() returns trigger language plpgsql as
        $$ begin raise exception 'the log of a job is append-only'; end $$
    """)
    op.execute("""
        create trigger events_are_append_only before update on events
        for each row execute function refuse_change()
    """)


def downgrade() -> None:
    op.execute("drop trigger events_are_append_only on events")
    op.execute("drop function refuse_change()")
    op.drop_table("recovered_calls")
    op.drop_table("recoveries")
    op.drop_table("guidance")
    for table in ("llm_calls", "tool_calls"):
        op.execute(f"update {table} set status = 'started' where status = 'unknown'")  # noqa: S608
        op.drop_constraint(op.f(f"ck_{table}_status"), table)
        op.create_check_constraint(op.f(f"ck_{table}_status"), table, _CALL_STATUS.format(""))
    op.execute("update jobs set status = 'running' where status = 'paused'")
    op.drop_constraint(op.f("ck_jobs_status"), "jobs")
    op.create_check_constraint(op.f("ck_jobs_status"), "jobs", _STATUS.format(""))
    op.drop_column("jobs", "attempt")
