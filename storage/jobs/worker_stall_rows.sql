-- name: count_stalls
-- Count the workers that stood still while they ran an activity; each repeated attempt asks.
select count(*) as stalls from worker_stalls
where job_id = %(job_id)s and run_id = %(run_id)s and activity_id = %(activity_id)s
