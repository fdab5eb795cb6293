"""keep when a model call was last sent again; its reservation is under way from then on"""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table model_calls add column sent_again_at timestamptz;
        comment on column model_calls.sent_again_at is
            'when the request was last sent again; null: it was sent once, at started_at';
    """)


def downgrade() -> None:
    op.execute("alter table model_calls drop column sent_again_at")
