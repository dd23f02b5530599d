-- Ends attempts, or changes nothing where the claim is no longer held (R81). The slots go with the claims. A cancelled job never becomes ready
-- again.
-- ?1 [{job, claim, state, place, back, error, ended_at}], ?2 worker, ?3 now
UPDATE warp_jobs
SET state = iif(cancelled_at IS NOT NULL AND e.value ->> 'ended_at' IS NULL, 'deleted', e.value ->> 'state'),
    place = iif(cancelled_at IS NULL, coalesce(e.value ->> 'place', place), place),
    attempts = iif(cancelled_at IS NULL, max(0, attempts - (e.value ->> 'back')), attempts),
    error = coalesce(e.value ->> 'error', error),
    ended_at = coalesce(e.value ->> 'ended_at', iif(cancelled_at IS NULL, NULL, ?3)),
    worker = NULL,
    claim = NULL
FROM json_each(?1) AS e
WHERE warp_jobs.id = e.value ->> 'job' AND warp_jobs.claim = e.value ->> 'claim' AND warp_jobs.worker = ?2
RETURNING warp_jobs.id, warp_jobs.state = 'deleted'
