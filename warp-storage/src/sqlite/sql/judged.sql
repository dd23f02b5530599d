-- Writes what was decided about jobs; a job that starts comes back with what its handler needs.
-- ?1 [{job, state, lane, claim, at, ended_at, stamp, error}], ?2 worker
UPDATE warp_jobs
SET state = d.value ->> 'state',
    lane = d.value ->> 'lane',
    worker = iif(d.value ->> 'state' = 'processing', ?2, NULL),
    claim = d.value ->> 'claim',
    attempts = attempts + (d.value ->> 'state' = 'processing'),
    starts = starts + (d.value ->> 'state' = 'processing'),
    admitted_at = coalesce(d.value ->> 'at', admitted_at),
    ended_at = d.value ->> 'ended_at',
    stamp = coalesce(d.value ->> 'stamp', stamp),
    error = coalesce(d.value ->> 'error', error)
FROM json_each(?1) AS d
WHERE warp_jobs.id = d.value ->> 'job'
RETURNING warp_jobs.id, iif(warp_jobs.state = 'processing', warp_jobs.payload, NULL) AS payload
