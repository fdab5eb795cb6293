"""record how far the replies to model calls have come"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table model_calls add column received_chars integer default 0 not null;
        comment on column model_calls.received_chars is
            'of a reply that is streamed: what has come of it, written every few seconds';
    """)


def downgrade() -> None:
    op.execute("alter table model_calls drop column received_chars")
