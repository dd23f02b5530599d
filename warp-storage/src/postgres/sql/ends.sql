, ending AS MATERIALIZED (
    SELECT e.* FROM worker
    CROSS JOIN json_to_recordset($3::json) AS e (
        job bigint, claim bigint, state text, place bigint, back integer, error text, ended_at bigint, keys json)
    WHERE NOT EXISTS (
        SELECT 1 FROM json_to_recordset(e.keys) AS k (family text, key text)
        WHERE NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.family = k.family AND l.key = k.key))
)
, ended AS (
    UPDATE warp.jobs AS j
    SET state = e.state,
        place = coalesce(e.place, j.place),
        attempts = greatest(0, j.attempts - e.back),
        error = coalesce(e.error, j.error),
        ended_at = e.ended_at,
        worker = NULL,
        claim = NULL
    FROM ending AS e
    CROSS JOIN LATERAL (SELECT ctid AS found, claim, worker FROM warp.jobs WHERE id = e.job LIMIT 1) AS f
    WHERE j.ctid = f.found AND f.claim = e.claim AND f.worker = $1::bigint
    RETURNING j.id
)
-- What is ready is written down to be so: it stays so if the clock goes back (R66), and stands in the order of all others.
, promoted AS (
    UPDATE warp.jobs AS j SET state = 'enqueued'
    FROM worker AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
    CROSS JOIN LATERAL (
        SELECT ctid AS found FROM warp.jobs
        WHERE state = 'scheduled' AND queue = q.queue AND kind = k.kind AND place <= (SELECT now FROM moment)
        ORDER BY queue, kind, place, id LIMIT CASE WHEN $5::boolean AND NOT w.draining THEN 1000 ELSE 0 END
        FOR UPDATE SKIP LOCKED) AS s
    WHERE j.ctid = s.found
)
SELECT json_build_object(
    'is_registered', EXISTS (SELECT 1 FROM worker),
    'ended', coalesce((SELECT json_agg(id) FROM ended), '[]'),
