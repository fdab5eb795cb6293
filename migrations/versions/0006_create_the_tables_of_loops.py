"""create the tables of cited loops: transcripts, their passages, and proven answers."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table loop_messages (
            job_id text not null,
            task_id text not null,
            attempt integer not null,
            position integer not null,
            compaction integer not null,
            role text not null,
            content text not null,
            steps jsonb not null,
            created_at timestamptz default now() not null,
            constraint pk_loop_messages primary key (job_id, task_id, attempt, position),
            constraint fk_loop_messages_task
                foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade
        );
        comment on column loop_messages.compaction is
            'how often the transcript was compacted before; only the last counts';
        comment on column loop_messages.steps is 'for each call of a reply, its step ids';

        create table loop_passages (
            job_id text not null,
            task_id text not null,
            attempt integer not null,
            number integer not null,
            source_id bigint not null,
            step_id text not null,
            step_attempt integer not null,
            constraint pk_loop_passages primary key (job_id, task_id, attempt, number),
            constraint fk_loop_passages_source_id_sources
                foreign key (source_id) references sources (id),
            constraint fk_loop_passages_task
                foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade
        );
        create index ix_loop_passages_source_id on loop_passages (source_id);
        comment on column loop_passages.step_id is 'the step whose answer has it';

        create table loop_results (
            job_id text not null,
            task_id text not null,
            attempt integer not null,
            body jsonb not null,
            created_at timestamptz default now() not null,
            constraint pk_loop_results primary key (job_id, task_id, attempt),
            constraint fk_loop_results_task
                foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade
        );
        comment on column loop_results.body is 'the proven answer';
    """)


def downgrade() -> None:
    op.execute("drop table loop_results, loop_passages, loop_messages")
