"""keep the replaced secret of a webhook until the receivers know the new one"""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table webhooks add column replaced_secret text;
        alter table webhooks add column replaced_secret_ends_at timestamptz;
        comment on column webhooks.replaced_secret is
            'signs next to the secret until replaced_secret_ends_at';
    """)


def downgrade() -> None:
    op.execute("""
        alter table webhooks drop column replaced_secret;
        alter table webhooks drop column replaced_secret_ends_at;
    """)
