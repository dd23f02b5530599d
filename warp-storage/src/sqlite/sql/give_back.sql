-- Gives back what a worker ran. A place of null is kept.
-- ?1 [{job, state, place, attempts, lost, error, ended_at}]
UPDATE warp_jobs
SET state = e.value ->> 'state',
    place = coalesce(e.value ->> 'place', place),
    attempts = max(0, attempts - (e.value ->> 'attempts')),
    lost = lost + (e.value ->> 'lost'),
    error = coalesce(e.value ->> 'error', error),
    ended_at = e.value ->> 'ended_at',
    worker = NULL,
    claim = NULL
FROM json_each(?1) AS e
WHERE warp_jobs.id = e.value ->> 'job'
