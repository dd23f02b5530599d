-- Where a job is that is to be cancelled.
-- $1 job, $2 now
SELECT json_build_object(
    'now', (SELECT now FROM moment),
    'job', (
        SELECT json_build_object(
            'state', j.state, 'lane', j.lane, 'worker', j.worker, 'is_cancelled', j.cancelled_at IS NOT NULL,
            'keys', coalesce((SELECT keys::json FROM warp.lanes WHERE id = j.lane), '[]'))
        FROM warp.jobs AS j WHERE j.id = $1::bigint))
