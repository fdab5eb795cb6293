"""create the table of responses, which clients of the Responses API come back to"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table responses (
            id text not null,
            job_id text not null,
            after bigint not null,
            request jsonb not null,
            created_at timestamptz default now() not null,
            constraint pk_responses primary key (id),
            constraint fk_responses_job_id
                foreign key (job_id) references jobs (id) on delete cascade
        );
        create index ix_responses_job_id on responses (job_id);
        comment on column responses.after is 'the response is the job''s log after this entry';
        comment on column responses.request is 'what the client sent';
    """)


def downgrade() -> None:
    op.execute("drop table responses")
