, ending AS MATERIALIZED (
    SELECT e.* FROM worker
    CROSS JOIN json_to_recordset($3::json) AS e (
        job bigint, claim bigint, state text, place bigint, back integer, error text, ended_at bigint, keys json)
    WHERE NOT EXISTS (
        SELECT 1 FROM json_to_recordset(e.keys) AS k (family text, key text)
        WHERE NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.family = k.family AND l.key = k.key))
)
-- Whose claims are held. While the worker's row is locked nobody takes them away.
, mine AS MATERIALIZED (
    SELECT e.*, f.found FROM ending AS e
    CROSS JOIN LATERAL (SELECT ctid AS found, claim, worker FROM warp.jobs WHERE id = e.job LIMIT 1) AS f
    WHERE f.claim = e.claim AND f.worker = $1::bigint
)
