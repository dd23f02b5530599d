-- Cancels a job that is still where it was seen. One that runs ends when its handler has, all others end here.
-- $1 job, $2 now, $3 state, $4 lane
UPDATE warp.jobs
SET cancelled_at = $2::bigint,
    state = CASE WHEN state = 'processing' THEN state ELSE 'deleted' END,
    ended_at = CASE WHEN state <> 'processing' THEN $2::bigint END,
    lane = NULL
WHERE id = $1::bigint AND state = $3::text AND lane IS NOT DISTINCT FROM $4::bigint AND cancelled_at IS NULL
RETURNING id
