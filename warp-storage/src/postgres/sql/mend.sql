-- Fails waiting jobs whose rows cannot be judged. All keys of their lanes are locked.
-- $1 [{job, lane, error}], $2 now
UPDATE warp.jobs AS j
SET state = 'failed', lane = NULL, ended_at = $2::bigint, error = e.error
FROM json_to_recordset($1::json) AS e (job bigint, lane bigint, error text)
WHERE j.id = e.job AND j.state = 'waiting' AND j.lane = e.lane
RETURNING j.id
