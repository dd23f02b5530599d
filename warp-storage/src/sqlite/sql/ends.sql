-- Ends attempts, or changes nothing where the claim is no longer held (R81). The slots go with the claims.
-- ?1 [{job, claim, state, place, back, error, ended_at}], ?2 worker
UPDATE warp_jobs
SET state = e.value ->> 'state',
    place = coalesce(e.value ->> 'place', place),
    attempts = max(0, attempts - (e.value ->> 'back')),
    error = coalesce(e.value ->> 'error', error),
    ended_at = e.value ->> 'ended_at',
    worker = NULL,
    claim = NULL
FROM json_each(?1) AS e
WHERE warp_jobs.id = e.value ->> 'job' AND warp_jobs.claim = e.value ->> 'claim' AND warp_jobs.worker = ?2
RETURNING warp_jobs.id
