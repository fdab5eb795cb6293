-- name: answered_attempt
-- Select the newest attempt that answered this request in the same place, of those that count.
select attempt from model_calls
where job_id = %(job_id)s and task_id = %(task_id)s and role = %(role)s and part = %(part)s
    and request_hash = %(request_hash)s and status = 'done' and attempt <= %(attempt)s
    and (response is not null or refusal is not null)
    and started_at > coalesce((
        select max(at) from events where job_id = %(job_id)s and kind = %(refused)s
            and facts ->> 'reason' = %(since)s), '-infinity')
order by attempt desc limit 1
