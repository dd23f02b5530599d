-- Fails waiting jobs whose rows cannot be judged.
-- ?1 [{job, error}], ?2 now
UPDATE warp_jobs
SET state = 'failed', lane = NULL, ended_at = ?2, error = e.value ->> 'error'
FROM json_each(?1) AS e
WHERE warp_jobs.id = e.value ->> 'job'
