"""record which activity a worker ran when its event loop stood still"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLE = """
create table worker_stalls (
    worker text not null,
    job_id text not null,
    run_id text not null,
    activity_id text not null,
    stalled_at timestamptz not null,
    constraint pk_worker_stalls primary key (worker),
    constraint fk_worker_stalls_job_id foreign key (job_id) references jobs (id) on delete cascade
);
create index ix_worker_stalls_job_id on worker_stalls (job_id);
comment on column worker_stalls.worker is 'the identity of the killed worker';
comment on column worker_stalls.activity_id is 'the activity that the loop ran last';
"""


def upgrade() -> None:
    op.execute(_TABLE)


def downgrade() -> None:
    op.execute("drop table worker_stalls")
