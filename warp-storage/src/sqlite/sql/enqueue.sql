-- Adds jobs to this very file, or nothing where a caller's transaction is on another one.
-- ?1 [{kind, queue, rank, place, state, explicit, payload}], ?2 now, ?3 the file's id
INSERT INTO warp_jobs (state, queue, kind, rank, place, enqueued_at, explicit, payload)
SELECT value ->> 'state', value ->> 'queue', value ->> 'kind', value ->> 'rank', value ->> 'place', ?2,
    value ->> 'explicit', value ->> 'payload'
FROM json_each(?1)
WHERE ?3 = (
