"""find the calls that compared other jobs with a job that is removed"""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create index model_calls_comparisons on model_calls (task_id)
            where role = 'claim_matcher';
    """)


def downgrade() -> None:
    op.execute("drop index model_calls_comparisons")
