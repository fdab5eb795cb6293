-- name: lock_quotas
-- Lock the quotas of a call, in one order for all calls, so that two calls take no room twice.
-- A line is a key with all keys that rotations made from it or it from: their quota is one.
with recursive of_call as (
    select jobs.owner, jobs.key_id from model_calls join jobs on jobs.id = model_calls.job_id
    where model_calls.id = %(call_id)s),
line(key_id) as (
    select key_id from of_call
    union
    select case api_keys.id when line.key_id then api_keys.replaces else api_keys.id end
    from line join api_keys on line.key_id in (api_keys.id, api_keys.replaces)
    where api_keys.replaces <> '')
select pg_advisory_xact_lock(hashtextextended(kind || '/' || subject, 11)) from (
    select kind, subject from quotas
    where (kind = 'owner' and subject in (select owner from of_call))
        or (kind = 'key' and subject in (select key_id from line))
    order by 1, 2) as held

-- name: take_quota
-- Insert the use of a call if every quota of its owner and its key has room for it; otherwise
-- return the quota that has none. A call without a quota leaves no row. A call that is sent again
-- counts once.
with recursive clock as materialized (
    select clock_timestamp() as at,
        date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC' as midnight),
of_call as (
    select jobs.owner, jobs.key_id from model_calls join jobs on jobs.id = model_calls.job_id
    where model_calls.id = %(call_id)s),
line(key_id) as (
    select key_id from of_call
    union
    select case api_keys.id when line.key_id then api_keys.replaces else api_keys.id end
    from line join api_keys on line.key_id in (api_keys.id, api_keys.replaces)
    where api_keys.replaces <> ''),
held as (
    select quotas.* from quotas
    where (kind = 'owner' and subject in (select owner from of_call))
        or (kind = 'key' and subject in (select key_id from line))),
used as (
    select held.kind, held.subject, held.calls, held.tokens, held.cost,
        spent.calls as used_calls, spent.tokens as used_tokens, spent.cost as used_cost
    from held, clock, lateral (
        select count(*) as calls, coalesce(sum(uses.tokens), 0) as tokens,
            coalesce(sum(uses.cost), 0) as cost
        from quota_uses as uses
        where case held.kind when 'owner' then uses.owner = held.subject
                else uses.key_id in (select key_id from line) end
            and uses.began_at >= midnight and uses.call_id <> %(call_id)s) as spent),
without_room as (
    select kind, subject, 'calls' as what, used_calls::text as used, calls::text as most from used
    where used_calls + 1 > calls
    union all
    select kind, subject, 'tokens', used_tokens::text, tokens::text from used
    where used_tokens + %(tokens)s::bigint > tokens
    union all
    select kind, subject, case when %(cost)s::text is null then 'price' else 'cost' end,
        used_cost::text, cost::text from used
    where cost is not null
        and coalesce(used_cost + %(cost)s::text::numeric > cost, true)),
forgotten as (
    delete from quota_uses using of_call, clock
    where quota_uses.owner = of_call.owner and began_at < midnight - interval '1 day'),
taken as (
    insert into quota_uses (call_id, owner, key_id, tokens, cost, began_at)
    select %(call_id)s, owner, key_id, %(tokens)s, coalesce(%(cost)s::text::numeric, 0), at
    from of_call, clock
    where exists (select from held) and not exists (select from without_room)
    on conflict (call_id) do update
        set tokens = excluded.tokens, cost = excluded.cost, began_at = excluded.began_at
    returning call_id)
select (select call_id from taken) as taken, kind, subject, what, used, most,
    extract(epoch from midnight + interval '1 day' - at)::float8 as left_s
from clock left join (select * from without_room limit 1) as refusing on true

-- name: end_use
-- Record what the call took.
update quota_uses set tokens = %(tokens)s, cost = coalesce(%(cost)s::text::numeric, 0)
where call_id = %(call_id)s returning call_id
