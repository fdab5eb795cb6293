-- name: pause_model
-- Let no call to the model begin for as long as its endpoint asks for, otherwise for a time that
-- doubles with each refusal after a pause. Refusals of calls that were under way together count
-- as one; a pause that ended long ago says nothing.
with clock as materialized (select clock_timestamp() as at)
insert into model_pauses as held (model, since, until, refusals)
select %(model)s, at,
    at + make_interval(secs => coalesce(%(after_s)s::float8, %(first_s)s::float8)), 1
from clock
on conflict (model) do update set
    since = case when held.until < excluded.since - make_interval(secs => %(forgotten_s)s::float8)
        then excluded.since else held.since end,
    until = greatest(held.until, excluded.since + make_interval(secs => coalesce(
        %(after_s)s::float8,
        least(%(longest_s)s::float8, %(first_s)s::float8 * 2 ^ case
            when held.until < excluded.since - make_interval(secs => %(forgotten_s)s::float8) then 0
            when held.until <= excluded.since then held.refusals
            else held.refusals - 1 end)))),
    refusals = case
        when held.until < excluded.since - make_interval(secs => %(forgotten_s)s::float8) then 1
        when held.until <= excluded.since then least(held.refusals + 1, 30)
        else held.refusals end
returning extract(epoch from until - clock_timestamp())::float8 as left_s

-- name: end_pause
-- Forget a pause that is over, because the model has answered since.
delete from model_pauses where model = %(model)s and until <= clock_timestamp() returning model
