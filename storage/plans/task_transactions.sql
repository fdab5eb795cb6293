-- name: begin_task
-- Mark a task as running, with its event; return the task and the entities of its dependencies.
-- `held` locks the job's row: the writes of a job are serial, and its events have no gaps. If no
-- row has this epoch, the parts that depend on `held` write nothing. The same holds if the log has
-- not the entry `seen`, because PostgreSQL was restored from a backup.
-- A worker that takes over an attempt finds the task running, and a task that a person cancelled and
-- resumed has begun before: the event is written once for each attempt.
with kept as (select body from receipts where job_id = %(job)s and key = %(key)s),
fresh as (
    select count(*) as events from tasks
    where job_id = %(job)s and id = %(task)s and status = 'pending' and started_at is null),
held as (
    update jobs set last_event = last_event + fresh.events from fresh
    where id = %(job)s and epoch = %(epoch)s and not exists (select from kept)
        and (%(seen)s = 0 or exists (
            select from events where job_id = %(job)s and seq = %(seen)s
                and at = %(seen_at)s::timestamptz))
    returning last_event),
noted as (
    insert into events (job_id, seq, kind, task_id, facts)
    select %(job)s, last_event, %(kind)s, %(task)s, jsonb_build_object('attempt', %(attempt)s::int)
    from held, fresh where fresh.events = 1),
begun as (
    update tasks set status = 'running', started_at = now() from held
    where tasks.job_id = %(job)s and tasks.id = %(task)s and status in ('pending', 'running')
    returning id, kind, description, criteria, tool, agent, parent, inputs, expects, depends_on,
        priority, include_context, status)
select (select body from kept) as receipt, (select last_event from held) as held,
    (select epoch from jobs where jobs.id = %(job)s) as epoch, begun.*,
    (select jsonb_object_agg(task_id, found) from (
        select task_id, jsonb_object_agg(name, value) as found from entities
        where job_id = %(job)s and task_id = any(begun.depends_on) group by task_id
    ) as by_task) as memory
from (values (1)) as one left join begun on true

-- name: task_status
-- Select the status of a task that did not begin, and the receipt if there is one.
select (select body from receipts where job_id = %(job)s and key = %(key)s) as receipt,
    (select status from tasks where job_id = %(job)s and id = %(task)s) as status,
    %(epoch)s::bigint as asked_at

-- name: finish_task
-- Part: store the outcome of a task attempt, its sources, evidence, entities, event and receipt.
-- If another transaction stores the same source now, the statement waits and shares that source:
-- `do update`, because `do nothing` would not return its id. Sources are sorted, so that two jobs
-- cannot wait for each other.
,
held as (
    update jobs set last_event = last_event + 1, answer = coalesce(%(answer)s::jsonb, answer)
    where id = %(job)s and epoch = %(epoch)s
        and (%(seen)s = 0 or exists (
            select from events where job_id = %(job)s and seq = %(seen)s
                and at = %(seen_at)s::timestamptz))
    returning last_event),
noted as (
    insert into events (job_id, seq, kind, task_id, facts)
    select %(job)s, last_event, %(kind)s, %(task)s, %(facts)s::jsonb from held),
ended as (
    update tasks set status = %(status)s, confidence = %(confidence)s,
        failure = %(failure)s::jsonb, trace = %(trace)s::jsonb, finished_at = now(),
        worked_s = worked_s + %(worked_s)s::float8
    from held where tasks.job_id = %(job)s and tasks.id = %(task)s),
placed as (
    insert into sources (sha256, address, via, title, heading, published, tool, text, start_char,
        end_char)
    select r.* from held, jsonb_to_recordset(%(read)s::jsonb) as r(
        sha256 text, address text, via text, title text, heading text, published text, tool text,
        text text, start_char int, end_char int)
    order by r.sha256, r.address, r.start_char, r.via
    on conflict (sha256, address, start_char, via) do update set address = excluded.address
    returning id, sha256, address, start_char, via),
shown as (
    insert into evidence (job_id, task_id, attempt, entity, source_id, start_char, end_char, quote)
    select %(job)s, %(task)s, %(attempt)s, f.entity, placed.id, f.quote_start, f.quote_end, f.quote
    from held, jsonb_to_recordset(%(found)s::jsonb) as f(
        sha256 text, address text, start_char int, via text, entity text, quote_start int,
        quote_end int, quote text)
    left join placed using (sha256, address, start_char, via)),
remembered as (
    insert into entities (job_id, task_id, name, type, description, value, confidence)
    select %(job)s, %(task)s, e.name, e.type, e.description, e.value, e.confidence
    from held, jsonb_to_recordset(%(kept)s::jsonb) as e(
        name text, type text, description text, value jsonb, confidence float8)
    on conflict do nothing),
receipt as (
    insert into receipts (job_id, key, body)
    select %(job)s, %(key)s, %(body)s::jsonb || jsonb_build_object(
        'seen', jsonb_build_object('number', last_event, 'at', now())) from held)
select (select last_event from held) as held, now() as at,
    (select epoch from jobs where jobs.id = %(job)s) as epoch
