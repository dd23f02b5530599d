-- Cancels a job. One that runs ends when its handler has, all others end here.
-- ?1 job, ?2 now
UPDATE warp_jobs
SET cancelled_at = ?2,
    state = iif(state = 'processing', state, 'deleted'),
    ended_at = iif(state = 'processing', NULL, ?2),
    lane = NULL
WHERE id = ?1
