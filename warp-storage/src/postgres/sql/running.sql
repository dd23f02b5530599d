-- What a worker runs, the keys of which it holds a slot, and the keys of the lanes of its routes.
-- $1 worker, $2 the one claim that is meant, or null for all
SELECT json_build_object(
    'jobs', coalesce((
        SELECT json_agg(json_build_object('id', id, 'lost', lost, 'is_cancelled', cancelled_at IS NOT NULL)) FROM (
            SELECT id, lost, cancelled_at FROM warp.jobs WHERE state = 'processing' AND worker = $1::bigint AND ($2::bigint IS NULL OR claim = $2::bigint)
            ORDER BY worker, id) AS j), '[]'),
    'keys', coalesce((
        SELECT json_agg(DISTINCT jsonb_build_object('family', s.family, 'key', s.key))
        FROM (
            SELECT id FROM warp.jobs
            WHERE state = 'processing' AND worker = $1::bigint AND ($2::bigint IS NULL OR claim = $2::bigint)
            ORDER BY worker, id OFFSET 0) AS j
        CROSS JOIN LATERAL (SELECT family, key FROM warp.slots WHERE job = j.id OFFSET 0) AS s), '[]'),
    'lane_keys', coalesce((
        SELECT json_agg(DISTINCT jsonb_build_object('family', k.family, 'key', k.key))
        FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS i (kind)
        CROSS JOIN LATERAL (SELECT keys FROM warp.lanes WHERE queue = q.queue AND kind = i.kind OFFSET 0) AS l
        CROSS JOIN LATERAL json_to_recordset(l.keys::json) AS k (family text, key text)
        WHERE w.id = $1::bigint), '[]'))
