-- name: inherited_model
-- Select the newest answer that an origin of the fork recorded for the request of a role.
-- An answer that was pruned, or left out of a bundle, is null.
select id from model_calls
where job_id in (select jsonb_array_elements_text(%(origins)s::jsonb))
    and role = %(role)s and request_hash = %(request_hash)s and status = 'done'
    and (response is not null or refusal is not null)
order by id desc limit 1

-- name: requests_in_place
-- Select the answered requests of the origins in the same place, whatever the attempt, as an array
-- of pairs of a call's number and its request.
select coalesce(json_agg(json_build_array(id::text, request) order by id desc), '[]') as recorded
from model_calls
where job_id in (select jsonb_array_elements_text(%(origins)s::jsonb))
    and task_id = %(task_id)s and role = %(role)s and part = %(part)s and status = 'done'
    and (response is not null or refusal is not null)

-- name: inherit_model
-- Answer an announced model call with the recorded answer of an origin, at no cost.
-- The row has the time of now, because nothing was waited for.
update model_calls set response = origin.response, model = origin.model, finish = origin.finish,
    refusal = origin.refusal, is_estimated = false, cost = 0, reserved_tokens = 0,
    reserved_cost = null, status = 'done', started_at = now(), finished_at = now(), error = null,
    origin_call_id = coalesce(origin.origin_call_id, origin.id)
from model_calls as origin
where model_calls.id = %(id)s and origin.id = %(origin)s and model_calls.status <> 'done'
returning model_calls.id, model_calls.status, model_calls.error, model_calls.response,
    model_calls.model, model_calls.finish, model_calls.refusal, model_calls.input_tokens,
    model_calls.output_tokens, model_calls.cached_tokens, model_calls.reasoning_tokens,
    model_calls.is_estimated

-- name: inherit_tool
-- Answer an announced tool call with the answer that an origin recorded for the same request, and
-- copy the figures of the answer. No row: no origin has an answer.
with origin as (
    select id, response, is_cut, origin_call_id from tool_calls
    where job_id in (select jsonb_array_elements_text(%(origins)s::jsonb))
        and request_hash = %(request_hash)s and tool = %(tool)s and status = 'done'
        and response is not null
    order by origin_call_id is not null, id desc limit 1),
settled as (
    update tool_calls set response = origin.response, is_cut = origin.is_cut, status = 'done',
        started_at = now(), finished_at = now(), error = null,
        origin_call_id = coalesce(origin.origin_call_id, origin.id)
    from origin where tool_calls.id = %(id)s and tool_calls.status <> 'done'
    returning tool_calls.id, tool_calls.job_id, tool_calls.response),
copied as (
    insert into figures (job_id, call_id, sha256, media_type, title, caption, data)
    select settled.job_id, settled.id, sha256, media_type, title, caption, data
    from figures join origin on figures.call_id = origin.id, settled
    on conflict do nothing)
select response from settled

-- name: requests_of_role
-- Select the answered requests of a role of the origins, as an array of number, task and request.
select coalesce(json_agg(json_build_array(id, task_id, request)), '[]') as recorded from (
    select id, task_id, request from model_calls
    where job_id in (select jsonb_array_elements_text(%(origins)s::jsonb))
        and role = %(role)s and status = 'done' and (response is not null or refusal is not null)
    order by id limit 500) as answered

-- name: requests_of_tool
-- Select the answered calls of a tool of the origins, as an array of number, task and arguments.
select coalesce(json_agg(json_build_array(id, task_id, request)), '[]') as recorded from (
    select id, task_id, request from tool_calls
    where job_id in (select jsonb_array_elements_text(%(origins)s::jsonb))
        and tool = %(tool)s and status = 'done' and response is not null
    order by id limit 500) as answered
