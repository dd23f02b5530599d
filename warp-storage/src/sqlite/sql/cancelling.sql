-- Where a job is that is to be cancelled.
-- ?1 job
SELECT json_object('job', (
    SELECT json_object(
        'state', j.state, 'lane', j.lane, 'worker', j.worker, 'is_cancelled', j.cancelled_at IS NOT NULL,
        'keys', json(coalesce((SELECT keys FROM warp_lanes WHERE id = j.lane), '[]')))
    FROM warp_jobs AS j WHERE j.id = ?1))
