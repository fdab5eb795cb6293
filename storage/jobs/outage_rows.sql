-- name: note_presence
-- Note that the services are there, and return a row, unless their silence was an outage.
-- A worker runs it before its first activity and every five seconds.
update service_presence set seen_at = clock_timestamp()
where clock_timestamp() - seen_at <= make_interval(secs => %(max_silence_s)s)
returning seen_at
