"""The SQL of the gate: a model call of a job with a cap is announced only where it fits."""

from typing import LiteralString

from storage.ledger_statements import NOTED_MODEL, OPENED_AGAIN_MODEL, RETURNED_MODEL, SETTLED

# The second statement of the same transaction: only a statement that begins once the row is locked
# sees what the calls before it have reserved.
LOCK: LiteralString = (
    "with "  # noqa: S608 - constants, both
    + SETTLED
    + " select 1 from jobs where id = %(job_id)s for no key update"
)

# An answer may be as long as the role's longest so far; a few short ones say little of the next.
# A call that left long ago and of which nobody heard may have been paid: it counts as spent.
# The caps are read from the job and not given along: whoever has just raised one is heard at once.
# A report may pass the cap with its last call, since the work before it had to leave it room.
# What came back before is given whatever it would cost now, and so is the word that it is refused.
_ROOM: LiteralString = """
mine as (
    select id, status from llm_calls
    where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
        and role = %(role)s and part = %(part)s and request_hash = %(request_hash)s),
caps as (
    select (strategy ->> 'max_tokens')::numeric as most_tokens,
        (strategy ->> 'max_cost')::numeric as most_cost,
        case when %(is_report)s::boolean then 0
            else coalesce((strategy ->> 'report_reserve')::numeric, 0) end as kept
    from jobs where id = %(job_id)s),
spent as (
    select coalesce(sum(input_tokens + output_tokens)
            + coalesce(sum(reserved_tokens) filter (where not is_under_way), 0), 0) as spent_tokens,
        coalesce(sum(reserved_tokens) filter (where is_under_way), 0) as held_tokens,
        coalesce(sum(coalesce(cost, 0))
            + coalesce(sum(reserved_cost) filter (where not is_under_way), 0), 0) as spent_cost,
        coalesce(sum(reserved_cost) filter (where is_under_way), 0) as held_cost,
        greatest(max(output_tokens) filter (where role = %(role)s and status = 'done'),
            case when count(*) filter (where role = %(role)s and status = 'done') < 3
                then %(output_tokens)s::bigint else 0 end) as answer_tokens
    from llm_calls, lateral (
        select status = 'started' and started_at > now() - interval '15 minutes' as is_under_way
    ) as call
    where job_id = %(job_id)s and id is distinct from (select id from mine)),
asked as (
    select caps.*, spent.*, %(input_tokens)s::bigint + answer_tokens as asked_tokens,
        %(input_cost)s::numeric + answer_tokens * %(output_price)s::numeric as asked_cost
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
        false) as fits
    from asked),
opened as (
    insert into llm_calls
        (job_id, task_id, attempt, part, request_hash, role, model, request, status,
        reserved_tokens, reserved_cost)
    select %(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(role)s, %(model)s,
        %(request)s, 'started', asked_tokens, asked_cost
    from room where fits or exists (select from mine where status in ('done', 'refused'))
"""
_RESERVED: LiteralString = """,
        reserved_tokens = case when llm_calls.status in ('done', 'refused')
            then llm_calls.reserved_tokens else excluded.reserved_tokens end,
        reserved_cost = case when llm_calls.status in ('done', 'refused')
            then llm_calls.reserved_cost else excluded.reserved_cost end
"""
_FROM_ROOM: LiteralString = """
select opened.*, room.* from room left join opened on true
"""
_ANNOUNCED: LiteralString = _ROOM + OPENED_AGAIN_MODEL + _RESERVED + RETURNED_MODEL
OPEN_MODEL_WITHIN: LiteralString = "with " + _ANNOUNCED + _FROM_ROOM
OPEN_MODEL_WITHIN_RECOVERED: LiteralString = "with " + _ANNOUNCED + NOTED_MODEL + _FROM_ROOM
