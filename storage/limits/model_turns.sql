-- name: lock_model
-- Lock the turns of the model: a transaction runs it first, so that two calls take no turn twice.
select pg_advisory_xact_lock(hashtextextended(%(model)s, 7))

-- name: take_turn
-- Insert the turn of a call if the model's limits have room for it now; otherwise say how long
-- it waits for which limit. A null limit does not hold.
-- A call that is sent again after a crash ends its own open turn; a call that never comes back
-- holds its place until its lease is over.
-- A turn that begins in the future was taken before the clock was set back: it begins now.
with clock as materialized (select clock_timestamp() as at),
forgotten as (
    delete from model_turns using clock
    where model = %(model)s and began_at < at - interval '1 day'),
corrected as (
    update model_turns set began_at = least(began_at, at),
        ended_at = case when call_id = %(call_id)s then coalesce(ended_at, at) else ended_at end
    from clock where model = %(model)s
        and (began_at > at or call_id = %(call_id)s and ended_at is null)),
turns as (
    select least(began_at, at) as began_at, tokens, ended_at is null and call_id <> %(call_id)s
            and began_at > at - make_interval(secs => %(lease_s)s) as is_open,
        began_at > at - make_interval(secs => %(window_s)s) as is_counted
    from model_turns, clock where model = %(model)s and began_at > at - interval '1 day'),
counted as (
    select began_at, row_number() over newest as nth, sum(tokens) over newest as tokens_since
    from turns where is_counted window newest as (order by began_at desc rows unbounded preceding)),
free_at as (
    select 'requests' as why, began_at + make_interval(secs => %(window_s)s) as free from counted
    where nth = %(requests)s::bigint
    union all
    select 'tokens', max(began_at) + make_interval(secs => %(window_s)s) from counted
    where tokens_since + %(tokens)s::bigint > %(most_tokens)s::bigint
    union all
    select 'calls', at + make_interval(secs => %(poll_s)s) from clock
    where (select count(*) from turns where is_open) >= %(calls)s::bigint),
wait as (
    select why, extract(epoch from free - at)::float8 as wait_s from free_at, clock
    where free > at order by free desc limit 1),
taken as (
    insert into model_turns (model, call_id, tokens, began_at)
    select %(model)s, %(call_id)s, %(tokens)s, at from clock
    where not exists (select from wait)
    returning id)
select (select id from taken) as id, (select why from wait) as why,
    (select wait_s from wait) as wait_s

-- name: end_turn
-- Record that a call has ended, with the tokens that it took if they are known.
update model_turns set ended_at = clock_timestamp(), tokens = coalesce(%(tokens)s, tokens)
where id = %(id)s returning id
