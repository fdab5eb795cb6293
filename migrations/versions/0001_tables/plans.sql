-- Plan changes, tasks, the entities that tasks found, and the result of each task attempt.

create table plan_changes (
    job_id text not null,
    number integer not null,
    cause text not null,
    scope text default '' not null,
    failed_task text,
    explanation text default '' not null,
    added text[] not null,
    superseded text[] not null,
    changed jsonb default '[]' not null,
    depth integer not null,
    breadth double precision not null,
    created_at timestamptz default now() not null,
    constraint pk_plan_changes primary key (job_id, number),
    constraint fk_plan_changes_job_id foreign key (job_id) references jobs (id) on delete cascade
);
comment on column plan_changes.cause is 'why the plan changed, such as planned, replanned';
comment on column plan_changes.scope is 'the agent task whose steps changed, or empty';
comment on column plan_changes.changed is 'fields with old and new values';

create table tasks (
    job_id text not null,
    id text not null,
    position integer not null,
    kind text not null,
    description text not null,
    criteria text default '' not null,
    tool text default '' not null,
    agent text default '' not null,
    parent text default '' not null,
    inputs jsonb not null,
    expects jsonb not null,
    depends_on text[] not null,
    priority integer not null,
    include_context boolean not null,
    status text not null,
    attempt integer default 1 not null,
    root text not null,
    added_by_change integer not null,
    confidence double precision,
    failure jsonb,
    trace jsonb,
    notes jsonb,
    contradicts_plan boolean default false not null,
    started_at timestamptz,
    finished_at timestamptz,
    constraint pk_tasks primary key (job_id, id),
    constraint uq_tasks_job_id_position unique (job_id, position),
    constraint ck_tasks_kind check (kind in ('tool', 'reasoning', 'agent')),
    constraint ck_tasks_status
        check (status in ('pending', 'running', 'done', 'failed', 'superseded', 'cancelled')),
    constraint ck_tasks_priority check (priority between 1 and 10),
    constraint fk_tasks_job_id foreign key (job_id) references jobs (id) on delete cascade
);
comment on column tasks.position is 'order of planning, from 1';
comment on column tasks.parent is 'the agent task that it is a step of';
comment on column tasks.root is 'the first task of its lineage';
comment on column tasks.added_by_change is 'the plan change that added it';
comment on column tasks.trace is 'reasoning steps, or a summary';
comment on column tasks.notes is 'an agent''s plan and last guidance';

create table entities (
    job_id text not null,
    task_id text not null,
    name text not null,
    type text not null,
    value jsonb,
    confidence double precision,
    description text default '' not null,
    constraint pk_entities primary key (job_id, task_id, name),
    constraint fk_entities_task
        foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade,
    constraint ck_entities_confidence check (confidence between 0 and 1)
);

create table attempt_results (
    job_id text not null,
    task_id text not null,
    attempt integer not null,
    entities jsonb not null,
    confidence double precision,
    is_chosen boolean default true not null,
    created_at timestamptz default now() not null,
    constraint pk_attempt_results primary key (job_id, task_id, attempt),
    constraint fk_attempt_results_task
        foreign key (job_id, task_id) references tasks (job_id, id) on delete cascade
);
comment on column attempt_results.entities is 'the entities of this attempt alone';
