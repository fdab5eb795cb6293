"""create the tables of schedules and of their runs"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table schedules (
            id text not null,
            owner text not null,
            key_id text default '' not null,
            question text not null,
            request jsonb,
            updated_job text default '' not null,
            searches_again boolean default false not null,
            times text not null,
            time_zone text not null,
            overlap text not null,
            catch_up_s bigint not null,
            runs integer,
            status text not null,
            note text default '' not null,
            created_at timestamptz default now() not null,
            continued_at timestamptz default now() not null,
            constraint pk_schedules primary key (id),
            constraint ck_schedules_overlap check (overlap in ('skip', 'wait', 'parallel')),
            constraint ck_schedules_status check (status in ('active', 'paused', 'ended'))
        );
        create index ix_schedules_owner on schedules (owner);
        comment on column schedules.request is 'null: a report is updated';
        comment on column schedules.runs is 'the schedule ends after so many; null: never';

        create table schedule_runs (
            schedule_id text not null,
            run text not null,
            job_id text,
            note text default '' not null,
            changes jsonb,
            begun_at timestamptz default now() not null,
            constraint pk_schedule_runs primary key (schedule_id, run),
            constraint fk_schedule_runs_schedule_id
                foreign key (schedule_id) references schedules (id) on delete cascade,
            constraint fk_schedule_runs_job_id
                foreign key (job_id) references jobs (id) on delete set null
        );
        create index ix_schedule_runs_job_id on schedule_runs (job_id);
        comment on column schedule_runs.job_id is
            'null: the run had no job, or its job was removed';
        comment on column schedule_runs.run is 'the id of the run''s workflow';
    """)


def downgrade() -> None:
    op.execute("""
        drop table schedule_runs;
        drop table schedules;
    """)
