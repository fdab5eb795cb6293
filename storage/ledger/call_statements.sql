-- name: settled
-- Part: store the deferred answers of the ledger, along with the statement that has this part.
-- The first answer stays, so a repetition changes nothing.
tool_settled as (
    update tool_calls set response = a.response, is_cut = a.is_cut,
        repeated_call_id = a.repeated_call_id, status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(tool_answer)s::jsonb) as a(
        id bigint, response text, is_cut boolean, repeated_call_id bigint)
    where tool_calls.id = a.id and tool_calls.status <> 'done'),
model_settled as (
    update model_calls set response = a.text, model = a.model, finish = a.finish,
        refusal = a.refusal, input_tokens = a.input_tokens, output_tokens = a.output_tokens,
        cached_tokens = a.cached_tokens, reasoning_tokens = a.reasoning_tokens,
        is_estimated = a.is_estimated, cost = a.cost, reserved_tokens = 0, reserved_cost = null,
        status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(model_answer)s::jsonb) as a(
        id bigint, text text, model text, finish text, refusal text, input_tokens bigint,
        output_tokens bigint, cached_tokens bigint, reasoning_tokens bigint, is_estimated boolean,
        cost numeric)
    where model_calls.id = a.id and model_calls.status <> 'done')

-- name: recorded_model
-- Part: the finished calls of the same place with other requests, unless they were compared.
recorded as (
    select id, request_hash, request from model_calls
    where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
        and role = %(role)s and part = %(part)s and status in ('done', 'refused')
        and not %(is_compared)s::boolean and not exists (
            select from model_calls
            where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
                and role = %(role)s and part = %(part)s and request_hash = %(request_hash)s)),

-- name: paused_model
-- Part: the pause of the model, if it was refused since its last answer.
paused as (
    select since as paused_since,
        extract(epoch from until - clock_timestamp())::float8 as pause_left_s
    from model_pauses where model = %(model)s),

-- name: opened_model
-- Part: insert the row of a model call before the call is sent.
opened as (
    insert into model_calls
        (job_id, task_id, attempt, part, request_hash, role, model, request, status)
    select %(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(role)s, %(model)s,
        %(request)s, 'started'
    where not exists (select from recorded)

-- name: on_conflict_model
-- Part: count a repetition of the model call in its existing row. A response that the endpoint
-- makes in the background is waited for, and not sent again.
    on conflict (job_id, task_id, attempt, role, part, request_hash) do update set
        reused = model_calls.reused + case when model_calls.status = 'done' then 1 else 0 end,
        sends = model_calls.sends
            + case when model_calls.status in ('done', 'refused')
                or model_calls.response_id is not null then 0 else 1 end,
        sent_again_at = case when model_calls.status in ('done', 'refused')
            then model_calls.sent_again_at else now() end,
        status = case when model_calls.status in ('done', 'refused') then model_calls.status
            else 'started' end,
        received_chars = 0,
        error = case when model_calls.status in ('started', 'unknown') then %(unclear)s
            else model_calls.error end

-- name: returning_model
-- Part: return the row of the model call, with the recorded answer if there is one.
    returning id, status, error, response, model, finish, refusal, input_tokens, output_tokens,
        cached_tokens, reasoning_tokens, is_estimated, response_id)

-- name: replaced_model
-- Part: leave the outcome of a call unknown that was sent from the same place with another request,
-- and is sent with this one instead. Its answer is still recorded if it comes.
,
replaced as (
    update model_calls set status = 'unknown', error = %(unclear)s, finished_at = now()
    where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
        and role = %(role)s and part = %(part)s and request_hash <> %(request_hash)s
        and status = 'started')

-- name: opened_tool
-- Part: insert the row of a tool call, and read the job's earlier answer to the same request.
-- A place has one request: the first one, unless that one failed and may be sent again.
-- A copy of an origin's call is no call of this job: a fork may have to send it again.
asked as (
    select coalesce((
        select request_hash from tool_calls
        where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
            and tool = %(tool)s and part = %(part)s
            and (status <> 'failed' or request_hash = %(request_hash)s)
        order by request_hash = %(request_hash)s desc, id limit 1
    ), %(request_hash)s) as request_hash),
earlier as (
    select id, response from tool_calls
    where job_id = %(job_id)s and request_hash = (select request_hash from asked)
        and tool = %(tool)s and status = 'done' and repeated_call_id is null and %(attempt)s = 1
        and origin_call_id is null
    order by id desc limit 1),
opened as (
    insert into tool_calls (job_id, task_id, attempt, part, request_hash, tool, request, status)
    select %(job_id)s, %(task_id)s, %(attempt)s, %(part)s, request_hash, %(tool)s, %(request)s,
        'started' from asked
    on conflict (job_id, task_id, attempt, tool, part, request_hash) do update set
        reused = tool_calls.reused + case when tool_calls.status = 'done' then 1 else 0 end,
        sends = tool_calls.sends
            + case when tool_calls.status in ('done', 'refused') then 0 else 1 end,
        status = case when tool_calls.status in ('done', 'refused') then tool_calls.status
            else 'started' end,
        error = case when tool_calls.status in ('started', 'unknown') then %(unclear)s
            else tool_calls.error end
    returning id, request_hash, request, status, response, error)

-- name: recovered_model
-- Part: record under a recovery a model call that is answered from record, by a response in the
-- background, or sent again.
-- A call that failed with an error is not recorded.
,
noted as (
    insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)
    select %(job_id)s, %(recovery)s, 'model', id, status = 'done' or response_id is not null
    from opened where status = 'done' or (status = 'started' and error = %(unclear)s)
    on conflict do nothing)

-- name: recovered_tool
-- Part: record under a recovery a tool call that is answered from record or sent again.
-- A call that failed with an error, or that an earlier call answers, is not recorded.
,
noted as (
    insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)
    select %(job_id)s, %(recovery)s, 'tool', id, status = 'done'
    from opened where status = 'done'
        or (status = 'started' and error = %(unclear)s and not exists (select from earlier))
    on conflict do nothing)

-- name: from_opened_model
-- Part: select the row of the model call; if there is none, the recorded requests to compare.
select opened.*, paused.*, (
    select json_agg(json_build_array(request_hash, request) order by id) from recorded
) as recorded
from (values (1)) as one left join opened on true left join paused on true

-- name: from_opened_tool
-- Part: select the row of the tool call, the earlier answer, the earlier identical calls, and
-- another identical call of the job that has no answer, whatever its task and its attempt. A call
-- of another task that runs may still be answered.
select opened.*, earlier.id as earlier_id, earlier.response as earlier_response, (
    select count(*) from tool_calls as same
    where same.job_id = %(job_id)s and same.request_hash = opened.request_hash
        and same.tool = %(tool)s and same.attempt = 1 and same.id < opened.id
        and (same.status in ('started', 'done') or same.repeated_call_id is not null)
    ) as identical_before,
    failed_before.times as failed_before, failed_before.error as failed_with,
    unclear.id as unclear_id, unclear.task_id as unclear_task,
    unclear.is_under_way as unclear_is_under_way
from opened left join earlier on true left join lateral (
    select id, task_id, status = 'started' and task_id <> %(task_id)s and exists (
        select from tasks where tasks.job_id = %(job_id)s and tasks.id = same.task_id
            and tasks.attempt = same.attempt and tasks.status = 'running') as is_under_way
    from tool_calls as same
    where same.job_id = %(job_id)s and same.request_hash = opened.request_hash
        and same.tool = %(tool)s and same.id <> opened.id
        and same.status in ('started', 'unknown')
    order by is_under_way, id limit 1) as unclear on true, (
    select count(*) as times, max(error) as error from tool_calls
    where job_id = %(job_id)s and request_hash = (select request_hash from asked)
        and tool = %(tool)s and attempt = 1 and status = 'refused' and repeated_call_id is null
        and task_id <> %(task_id)s) as failed_before

-- name: first_request
-- Select the request that was sent first for this part of a task attempt. A request without an
-- answer counts unless another request took its place.
select request from model_calls
where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
    and role = %(role)s and part = %(part)s
    and (status in ('started', 'done', 'refused') or status = 'unknown' and not exists (
        select from model_calls as later
        where later.job_id = %(job_id)s and later.task_id = %(task_id)s
            and later.attempt = %(attempt)s and later.role = %(role)s and later.part = %(part)s
            and later.id > model_calls.id))
order by id limit 1

-- name: fail_tool
-- Record the error of a tool call; an answer or an earlier error stays.
update tool_calls set status = %(status)s, error = %(error)s,
    repeated_call_id = %(repeated_call_id)s, finished_at = now()
where id = %(id)s and status = 'started'
returning id

-- name: note_received
-- Record how many characters of the reply to a model call have come; the call may be over by now.
update model_calls set received_chars = %(characters)s where id = %(id)s and status = 'started'
returning id

-- name: record_response
-- Record the response that the endpoint makes in the background for a model call, or that there is
-- none any more. A request that is sent again is counted, also under the recovery that had found
-- the response.
with lost as (
    update recovered_calls set was_reused = false
    where kind = 'model' and call_id = %(id)s and %(is_sent_again)s::boolean
        and recovery = %(recovery)s)
update model_calls set response_id = %(response_id)s,
    sends = sends + %(is_sent_again)s::boolean::integer
where id = %(id)s
returning id

-- name: fail_model
-- Record the error of a model call; repeated errors of one kind keep the time of the first.
update model_calls set status = 'failed', error = %(error)s, finish = %(kind)s,
    reserved_tokens = 0, reserved_cost = null,
    finished_at = case when finish = %(kind)s then finished_at else now() end, waits_until = null,
    malformed_replies = malformed_replies + %(is_malformed)s::boolean::integer
where id = %(id)s and status = 'started'
returning malformed_replies

-- name: cut_model
-- Record that a model call was cut off before its answer came, and may be sent again. It keeps its
-- reservation, since it may have been paid for.
update model_calls set status = 'unknown', error = %(error)s,
    finished_at = coalesce(finished_at, now())
where id = %(id)s and status = 'started'
returning id

-- name: withhold_model
-- Record that an announced model call was not sent, because it waits. Waiting for a turn is no
-- failure: `finished_at`, since which the call fails, moves by the length of this wait, and by the
-- difference between the real and the announced end of the last wait. A pause is a failure since the
-- first refusal.
with announced as (
    select id, waits_until from model_calls where id = %(id)s and status = 'started' for update)
update model_calls set status = 'failed', error = %(error)s, sends = sends - 1,
    reserved_tokens = 0, reserved_cost = null,
    waits_until = now() + make_interval(secs => %(wait_s)s::float8),
    finish = coalesce(%(kind)s, finish),
    finished_at = case
        when %(kind)s::text is null then coalesce(finished_at
            + make_interval(secs => %(wait_s)s::float8)
            + coalesce(now() - announced.waits_until, interval '0'), now())
        when finish = %(kind)s then least(finished_at, %(since)s::timestamptz)
        else %(since)s::timestamptz end
from announced where model_calls.id = announced.id
returning announced.waits_until is null as is_first, model_calls.waits_until

-- name: failing_seconds
-- Select for how many seconds a model call has failed in the same way, without the outages since.
select extract(epoch from now() - finished_at - coalesce((
    select sum(ended_at - greatest(began_at, finished_at)) from outages
    where ended_at > finished_at), interval '0'))::float as failing_s
from model_calls where id = %(id)s

-- name: stand_in_models
-- Select the models that answered; null if no model refused a call of the job.
select array_agg(distinct request::json ->> 'model') as models from model_calls
where job_id = %(job_id)s and status = 'done'
    and exists (select from model_calls where job_id = %(job_id)s and status = 'refused')

-- name: withhold_tool
-- Record that a tool call is not sent, or not sent again, and remove it from its recovery. A call
-- that waits and may be sent later is `failed`.
with unsent as (
    delete from recovered_calls
    where kind = 'tool' and call_id = %(id)s and recovery = %(recovery)s
        and job_id = (select job_id from tool_calls where id = %(id)s))
update tool_calls set status = %(status)s, error = %(error)s,
    sends = sends - (%(status)s::text = 'failed')::integer,
    repeated_call_id = %(repeated_call_id)s, finished_at = now()
where id = %(id)s and status = 'started'
returning id
