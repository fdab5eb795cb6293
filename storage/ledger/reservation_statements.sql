-- name: lock_job_row
-- Part: lock the row of the job. A transaction runs it first: only a statement that begins
-- after the lock sees the reservations of earlier calls.
select 1 from jobs where id = %(job_id)s for no key update

-- name: room
-- Part: insert the row of a model call only if its reservation fits the job's caps.
-- An answer is expected to be as long as the role's longest so far; until the role has answered
-- three times, also as long as estimated. A long answer is as long as the model's longest. Once the
-- role has answered three times, it is longer than expected by three times the longest at most.
-- A call is sent next to others only if long answers to all of them fit. A call that is alone is
-- sent if its expected answer fits, so one call can pass the cap.
-- A call without an answer 15 minutes after it was last sent may have been paid for: it counts as
-- spent.
-- The caps are read from the job's row, so a raised cap applies to the next call.
-- A report may pass the cap with its last call, since the earlier work left room for it.
-- A recorded answer or refusal is returned whatever the call would cost now.
mine as (
    select id, status from model_calls
    where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
        and role = %(role)s and part = %(part)s and request_hash = %(request_hash)s),
caps as (
    select (strategy ->> 'max_tokens')::numeric as most_tokens,
        (strategy ->> 'max_cost')::numeric as most_cost,
        case when %(is_report)s::boolean then 0
            else coalesce((strategy ->> 'report_reserve')::numeric, 0) end as kept
    from jobs where id = %(job_id)s),
known as (
    select role as known_role, least(%(longest_tokens)s::bigint, 3 * max(output_tokens)) as longer
    from model_calls where job_id = %(job_id)s and status = 'done'
    group by role having count(*) >= 3),
spent as (
    select coalesce(sum(input_tokens + output_tokens)
            + coalesce(sum(reserved_tokens) filter (where not is_under_way), 0), 0) as spent_tokens,
        coalesce(sum(reserved_tokens) filter (where is_under_way), 0) as held_tokens,
        coalesce(sum(coalesce(cost, 0))
            + coalesce(sum(reserved_cost) filter (where not is_under_way), 0), 0) as spent_cost,
        coalesce(sum(reserved_cost) filter (where is_under_way), 0) as held_cost,
        greatest(max(output_tokens) filter (where role = %(role)s and status = 'done'),
            case when count(*) filter (where role = %(role)s and status = 'done') < 3
                then %(output_tokens)s::bigint else 0 end) as answer_tokens,
        count(*) filter (where is_under_way) as under_way,
        coalesce(sum(coalesce(longer, %(longer_tokens)s::bigint)) filter (where is_under_way), 0)
            + coalesce((select longer from known where known_role = %(role)s),
                %(longer_tokens)s::bigint) as longer_tokens
    from model_calls left join known on known_role = role cross join lateral (
        select status = 'started' and coalesce(sent_again_at, started_at)
            > now() - interval '15 minutes' as is_under_way
    ) as call
    where job_id = %(job_id)s and id is distinct from (select id from mine)),
asked as (
    select caps.*, spent.*, %(input_tokens)s::bigint + answer_tokens as asked_tokens,
        %(input_cost)s::numeric + answer_tokens * %(output_price)s::numeric as asked_cost,
        longer_tokens * %(output_price)s::numeric as longer_cost
    from caps, spent),
room as (
    select asked.*, coalesce(
        (most_tokens is null
            or spent_tokens + held_tokens + asked_tokens <= most_tokens * (1 - kept)
            or %(is_report)s::boolean and spent_tokens + held_tokens < most_tokens)
        and (most_cost is null
            or spent_cost + held_cost + asked_cost <= most_cost * (1 - kept)
            or %(is_report)s::boolean and asked_cost is not null
                and spent_cost + held_cost < most_cost),
        false)
        and (under_way = 0
            or (most_tokens is null
                or spent_tokens + held_tokens + asked_tokens + longer_tokens
                    <= most_tokens * (1 - kept))
            and (most_cost is null
                or spent_cost + held_cost + asked_cost + longer_cost <= most_cost * (1 - kept)))
        as fits
    from asked),
opened as (
    insert into model_calls
        (job_id, task_id, attempt, part, request_hash, role, model, request, status,
        reserved_tokens, reserved_cost)
    select %(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(role)s, %(model)s,
        %(request)s, 'started', asked_tokens, asked_cost
    from room where not exists (select from recorded)
        and (fits or exists (select from mine where status in ('done', 'refused')))

-- name: reserved
-- Part: on conflict, replace the reservation of a call that has no answer yet.
,
        reserved_tokens = case when model_calls.status in ('done', 'refused')
            then model_calls.reserved_tokens else excluded.reserved_tokens end,
        reserved_cost = case when model_calls.status in ('done', 'refused')
            then model_calls.reserved_cost else excluded.reserved_cost end

-- name: from_room
-- Part: select the row of the model call, or the recorded requests to compare; and the caps and
-- spending of the job.
select opened.*, room.*, paused.*, (
    select json_agg(json_build_array(request_hash, request) order by recorded.id) from recorded
) as recorded
from room left join opened on true left join paused on true
