"""The SQL of the call ledger: constant statements, each a transaction of its own."""

from typing import LiteralString

SETTLED: LiteralString = """
tool_settled as (
    update tool_calls set response = a.response, is_cut = a.is_cut, repeats = a.repeats,
        status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(tool_answer)s::jsonb) as a(
        id bigint, response text, is_cut boolean, repeats bigint)
    where tool_calls.id = a.id and tool_calls.status <> 'done'),
model_settled as (
    update llm_calls set response = a.text, model = a.model, finish = a.finish,
        refusal = a.refusal, input_tokens = a.input_tokens, output_tokens = a.output_tokens,
        cached_tokens = a.cached_tokens, reasoning_tokens = a.reasoning_tokens,
        is_estimated = a.is_estimated, cost = a.cost, reserved_tokens = 0, reserved_cost = null,
        status = 'done', finished_at = now(), error = null
    from jsonb_to_record(%(model_answer)s::jsonb) as a(
        id bigint, text text, model text, finish text, refusal text, input_tokens bigint,
        output_tokens bigint, cached_tokens bigint, reasoning_tokens bigint, is_estimated boolean,
        cost numeric)
    where llm_calls.id = a.id and llm_calls.status <> 'done')
"""
"""Part of a statement: what `Ledger.unsettled` gives is written along with it.

The first answer stays, so running it again changes nothing.
"""

SETTLE: LiteralString = "with " + SETTLED + " select 1"

_OPENED_MODEL: LiteralString = """,
opened as (
    insert into llm_calls
        (job_id, task_id, attempt, part, request_hash, role, model, request, status)
    values (%(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(role)s, %(model)s,
        %(request)s, 'started')
"""
OPENED_AGAIN_MODEL: LiteralString = """
    on conflict (job_id, task_id, attempt, role, part, request_hash) do update set
        reused = llm_calls.reused + case when llm_calls.status = 'done' then 1 else 0 end,
        sends = llm_calls.sends
            + case when llm_calls.status in ('done', 'refused') then 0 else 1 end,
        status = case when llm_calls.status in ('done', 'refused') then llm_calls.status
            else 'started' end,
        error = case when llm_calls.status in ('started', 'unknown') then %(unclear)s
            else llm_calls.error end
"""
RETURNED_MODEL: LiteralString = """
    returning id, status, error, response, model, finish, refusal, input_tokens, output_tokens,
        cached_tokens, reasoning_tokens, is_estimated)
"""
_OPENED_TOOL: LiteralString = """
earlier as (
    select id, response from tool_calls
    where job_id = %(job_id)s and request_hash = %(request_hash)s and tool = %(tool)s
        and status = 'done' and repeats is null and %(attempt)s = 1
    order by id desc limit 1),
opened as (
    insert into tool_calls (job_id, task_id, attempt, part, request_hash, tool, request, status)
    values (%(job_id)s, %(task_id)s, %(attempt)s, %(part)s, %(request_hash)s, %(tool)s,
        %(request)s, 'started')
    on conflict (job_id, task_id, attempt, tool, part, request_hash) do update set
        reused = tool_calls.reused + case when tool_calls.status = 'done' then 1 else 0 end,
        sends = tool_calls.sends
            + case when tool_calls.status in ('done', 'refused') then 0 else 1 end,
        status = case when tool_calls.status in ('done', 'refused') then tool_calls.status
            else 'started' end,
        error = case when tool_calls.status in ('started', 'unknown') then %(unclear)s
            else tool_calls.error end
    returning id, status, response, error)
"""
# Under a recovery: what is answered from record, and what had been in flight and is sent again.
# Not what had come back with an error, nor what an earlier call of the job answers.
NOTED_MODEL: LiteralString = """,
noted as (
    insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)
    select %(job_id)s, %(recovery)s, 'model', id, status = 'done'
    from opened where status = 'done' or (status = 'started' and error = %(unclear)s)
    on conflict do nothing)
"""
_NOTED_TOOL: LiteralString = """,
noted as (
    insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)
    select %(job_id)s, %(recovery)s, 'tool', id, status = 'done'
    from opened where status = 'done'
        or (status = 'started' and error = %(unclear)s and not exists (select from earlier))
    on conflict do nothing)
"""
_FROM_OPENED_MODEL: LiteralString = """
select * from opened
"""
_FROM_OPENED_TOOL: LiteralString = """
select opened.*, earlier.id as earlier_id, earlier.response as earlier_response, (
    select count(*) from tool_calls as same
    where same.job_id = %(job_id)s and same.request_hash = %(request_hash)s
        and same.tool = %(tool)s and same.attempt = 1 and same.id < opened.id
        and (same.status in ('started', 'done') or same.repeats is not null)) as identical_before,
    failed_before.times as failed_before, failed_before.error as failed_with
from opened left join earlier on true, (
    select count(*) as times, max(error) as error from tool_calls
    where job_id = %(job_id)s and request_hash = %(request_hash)s and tool = %(tool)s
        and attempt = 1 and status = 'refused' and repeats is null
        and task_id <> %(task_id)s) as failed_before
"""
_ANNOUNCED_MODEL: LiteralString = _OPENED_MODEL + OPENED_AGAIN_MODEL + RETURNED_MODEL
OPEN_MODEL: LiteralString = "with " + SETTLED + _ANNOUNCED_MODEL + _FROM_OPENED_MODEL
OPEN_TOOL: LiteralString = "with " + _OPENED_TOOL + _FROM_OPENED_TOOL
OPEN_MODEL_RECOVERED: LiteralString = (
    "with " + SETTLED + _ANNOUNCED_MODEL + NOTED_MODEL + _FROM_OPENED_MODEL
)
OPEN_TOOL_RECOVERED: LiteralString = "with " + _OPENED_TOOL + _NOTED_TOOL + _FROM_OPENED_TOOL

FIRST_REQUEST: LiteralString = """
select request from llm_calls
where job_id = %(job_id)s and task_id = %(task_id)s and attempt = %(attempt)s
    and role = %(role)s and part = %(part)s and status in ('started', 'done', 'refused')
order by id limit 1
"""

# An answer is never overwritten by an error, nor is an error written twice.
FAIL_TOOL: LiteralString = """
update tool_calls set status = %(status)s, error = %(error)s, repeats = %(repeats)s,
    finished_at = now()
where id = %(id)s and status = 'started'
returning id
"""
# Failing again in the same way keeps the time at which that began.
FAIL_MODEL: LiteralString = """
update llm_calls set status = 'failed', error = %(error)s, finish = %(kind)s,
    reserved_tokens = 0, reserved_cost = null,
    finished_at = case when finish = %(kind)s then finished_at else now() end
where id = %(id)s and status = 'started'
returning id
"""
FAILING_FOR: LiteralString = """
select extract(epoch from now() - finished_at)::float as failing_s
from llm_calls where id = %(id)s
"""
# Nothing where no call has fallen back: who is asked is otherwise no question.
MODELS_BESIDE: LiteralString = """
select array_agg(distinct request::json ->> 'model') as models from llm_calls
where job_id = %(job_id)s and status = 'done'
    and exists (select from llm_calls where job_id = %(job_id)s and status = 'refused')
"""
WITHHOLD_TOOL: LiteralString = """
with unsent as (
    delete from recovered_calls
    where kind = 'tool' and call_id = %(id)s and recovery = %(recovery)s
        and job_id = (select job_id from tool_calls where id = %(id)s))
update tool_calls set status = 'refused', error = %(error)s, finished_at = now()
where id = %(id)s and status = 'started'
returning id
"""
