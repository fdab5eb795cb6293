"""figures that tools returned, beside the call that gave them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "figures",
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("job_id", sa.Text, sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
        sa.Column(
            "call_id",
            sa.BigInteger,
            sa.ForeignKey("tool_calls.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("sha256", sa.Text, nullable=False, comment="of the bytes"),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("caption", sa.Text, nullable=False, server_default=sa.text("''")),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.func.now(),
        ),
        sa.UniqueConstraint("call_id", "sha256", name="uq_figures_call_id_sha256"),
    )
    op.create_index("ix_figures_job_id_sha256", "figures", ["job_id", "sha256"])


def downgrade() -> None:
    op.drop_table("figures")
