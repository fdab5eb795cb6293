"""count the malformed replies to each model call"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_COLUMN = """
alter table model_calls add column malformed_replies integer default 0 not null;
comment on column model_calls.malformed_replies is 'replies that were no chat completion';
"""


def upgrade() -> None:
    op.execute(_COLUMN)


def downgrade() -> None:
    op.execute("alter table model_calls drop column malformed_replies")
