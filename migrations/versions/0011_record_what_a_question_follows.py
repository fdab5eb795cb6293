"""record the job that a follow-up question follows"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table jobs add column follow_up jsonb;
        comment on column jobs.follow_up is
            'the job that the question follows, and the questions before it; null: none';
    """)


def downgrade() -> None:
    op.execute("alter table jobs drop column follow_up")
