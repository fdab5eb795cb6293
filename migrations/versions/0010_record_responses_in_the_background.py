"""record the responses that endpoints make in the background"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table model_calls add column response_id text;
        comment on column model_calls.response_id is
            'the response that the endpoint makes in the background; null: none';
    """)


def downgrade() -> None:
    op.execute("alter table model_calls drop column response_id")
