"""record the bundle that a job was imported from"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table jobs add column imported jsonb;
        comment on column jobs.imported is
            'the bundle that the job was imported from; null: it was asked here';
    """)


def downgrade() -> None:
    op.execute("alter table jobs drop column imported")
