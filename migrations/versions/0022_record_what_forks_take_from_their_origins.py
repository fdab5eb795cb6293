"""record the job that a fork begins from, and the calls that its origins answered"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table jobs add column fork jsonb;
        comment on column jobs.fork is
            'the job that a fork began from, and what it runs again; null: no fork';
        create index ix_jobs_fork_job on jobs ((fork ->> 'job')) where fork is not null;
        alter table model_calls add column origin_call_id bigint;
        comment on column model_calls.origin_call_id is
            'the call of an origin of the fork whose answer was used';
        alter table tool_calls add column origin_call_id bigint;
        comment on column tool_calls.origin_call_id is
            'the call of an origin of the fork whose answer was used';
    """)


def downgrade() -> None:
    op.execute("""
        alter table tool_calls drop column origin_call_id;
        alter table model_calls drop column origin_call_id;
        drop index ix_jobs_fork_job;
        alter table jobs drop column fork;
    """)
