"""count how long workers worked on each task; what was worked before counts as it was measured"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_COLUMN = """
alter table tasks add column worked_s double precision default 0 not null;
comment on column tasks.worked_s is
    'how long workers worked on this attempt; of an agent: its own turns';
"""
# An outage within a task counts as work here, as it did when the task ran.
_SO_FAR = """
update tasks set worked_s = extract(epoch from finished_at - started_at)
where started_at <= finished_at and kind <> 'agent'
"""


def upgrade() -> None:
    op.execute(_COLUMN)
    op.execute(_SO_FAR)


def downgrade() -> None:
    op.execute("alter table tasks drop column worked_s")
