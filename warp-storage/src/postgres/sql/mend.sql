-- Fails waiting jobs whose rows cannot be judged. All keys of their lanes are locked.
-- $1 [{job, lane, error}], $2 now
UPDATE warp.jobs AS j
SET state = 'failed', lane = NULL, ended_at = $2::bigint, error = e.error
FROM json_to_recordset($1::json) AS e (job bigint, lane bigint, error text)
CROSS JOIN LATERAL (SELECT ctid AS found, state, lane FROM warp.jobs WHERE id = e.job LIMIT 1) AS f
WHERE j.ctid = f.found AND f.state = 'waiting' AND f.lane = e.lane
RETURNING j.id
