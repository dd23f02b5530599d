, ended AS (
    UPDATE warp.jobs AS j
    SET state = CASE WHEN j.cancelled_at IS NOT NULL AND e.ended_at IS NULL THEN 'deleted' ELSE e.state END,
        place = CASE WHEN j.cancelled_at IS NULL THEN coalesce(e.place, j.place) ELSE j.place END,
        attempts = CASE WHEN j.cancelled_at IS NULL THEN greatest(0, j.attempts - e.back) ELSE j.attempts END,
        error = coalesce(e.error, j.error),
        ended_at = coalesce(e.ended_at, CASE WHEN j.cancelled_at IS NOT NULL THEN $2::bigint END),
        worker = NULL,
        claim = NULL
    FROM free AS e
    WHERE j.ctid = e.found
    RETURNING j.id, j.state
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
    'ended', coalesce((SELECT json_agg(id) FROM ended WHERE state <> 'deleted'), '[]'),
    'cancelled', coalesce((SELECT json_agg(id) FROM ended WHERE state = 'deleted'), '[]'),
    'contended', coalesce((SELECT json_agg(m.job) FROM mine AS m WHERE NOT EXISTS (SELECT 1 FROM ended AS e WHERE e.id = m.job)), '[]'),
