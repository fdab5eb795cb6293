"""find questions by their words."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Of answered jobs alone: a job's row changes with each entry of its log, and while it runs none
    # of that may touch this index. Without a list of pending entries, which each search would read.
    op.execute("""
        create index ix_jobs_question_words on jobs
        using gin (to_tsvector('english'::regconfig, question)) with (fastupdate = off)
        where status = 'done' and stop_reason = 'answered'
    """)


def downgrade() -> None:
    op.drop_index("ix_jobs_question_words", table_name="jobs")
