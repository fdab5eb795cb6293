"""create the tables of trace exports: which spans of which jobs a collector has"""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table sent_spans (
            job_id text not null,
            span_id text not null,
            constraint pk_sent_spans primary key (job_id, span_id),
            constraint fk_sent_spans_job_id
                foreign key (job_id) references jobs (id) on delete cascade
        );
        create table sent_traces (
            job_id text not null,
            attempt integer not null,
            constraint pk_sent_traces primary key (job_id),
            constraint fk_sent_traces_job_id
                foreign key (job_id) references jobs (id) on delete cascade
        );
        create table trace_exporter (
            id integer not null,
            holder text default '' not null,
            leased_until timestamptz,
            exported_until timestamptz,
            constraint pk_trace_exporter primary key (id),
            constraint ck_trace_exporter_one_row check (id = 1)
        );
        insert into trace_exporter (id) values (1);
        create index ix_jobs_finished_at on jobs (finished_at) where finished_at is not null;
        comment on column sent_traces.attempt is 'of the job whose trace is with the collector';
        comment on column trace_exporter.exported_until is
            'the traces of all jobs that ended before are sent; null: none was ever sent';
    """)


def downgrade() -> None:
    op.execute("""
        drop index ix_jobs_finished_at;
        drop table trace_exporter;
        drop table sent_traces;
        drop table sent_spans;
    """)
