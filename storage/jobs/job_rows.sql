-- name: open_job_ids
-- Select the ids of the jobs that have not ended, the oldest first, as one array.
-- A worker runs it at its start, before it takes over the work of a dead one.
select coalesce(array_agg(id order by created_at), '{}') as ids from (
    select id, created_at from jobs
    where status not in (select jsonb_array_elements_text(%(final)s::jsonb))
    order by created_at limit %(most)s
) as oldest
