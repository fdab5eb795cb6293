-- The verdicts of each verification round, and what the stop conditions saw.

create table verifications (
    job_id text not null,
    round integer not null,
    task_id text not null,
    attempt integer not null,
    status text not null,
    completeness double precision not null,
    confidence double precision not null,
    missing jsonb not null,
    contradictions jsonb not null,
    recommendation text not null,
    is_carried_over boolean not null,
    model text not null,
    created_at timestamptz default now() not null,
    constraint pk_verifications primary key (job_id, round, task_id),
    constraint fk_verifications_task
        foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade,
    constraint ck_verifications_status check (status in ('complete', 'partial', 'incomplete')),
    constraint ck_verifications_completeness check (completeness between 0 and 1),
    constraint ck_verifications_confidence check (confidence between 0 and 1),
    constraint ck_verifications_recommendation
        check (recommendation in ('accept', 'retry', 'escalate'))
);

create table stop_log (
    job_id text not null,
    round integer not null,
    complete integer not null,
    total integer not null,
    confidence double precision not null,
    tokens bigint not null,
    conditions jsonb not null,
    fired text,
    is_filled boolean default false not null,
    created_at timestamptz default now() not null,
    constraint pk_stop_log primary key (job_id, round),
    constraint fk_stop_log_job_id foreign key (job_id) references jobs (id) on delete cascade
);
