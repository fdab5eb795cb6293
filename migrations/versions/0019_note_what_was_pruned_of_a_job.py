"""note what was pruned of a job"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table jobs add column responses_pruned_at timestamptz;
        alter table jobs add column events_pruned_at timestamptz;
        comment on column jobs.responses_pruned_at is
            'when the raw answers were removed; such a job cannot be reopened';
        comment on column jobs.events_pruned_at is
            'when the log was removed, but for its last entry';
    """)


def downgrade() -> None:
    op.execute("""
        alter table jobs drop column responses_pruned_at;
        alter table jobs drop column events_pruned_at;
    """)
