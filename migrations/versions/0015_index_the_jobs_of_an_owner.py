"""index the jobs of an owner, whose list read every job of the installation"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index ix_jobs_owner_created_at on jobs (owner, created_at);")


def downgrade() -> None:
    op.execute("drop index ix_jobs_owner_created_at;")
