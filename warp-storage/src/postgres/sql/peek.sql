-- What a turn has to know before it begins: whether there is anything to do, which jobs have no stamp yet, and which keys it will ask for.
-- $5 the jobs of the attempts that ended, [id]
SELECT json_build_object(
    'now', (SELECT now FROM moment),
    'worker', (SELECT json_build_object('lease', lease, 'last_seen', last_seen) FROM warp.workers WHERE id = $1::bigint),
    'latest', (SELECT greatest(s.latest, (SELECT max(latest) FROM warp.workers)) FROM warp.store AS s),
    'unresolved', coalesce((
        SELECT json_agg(json_build_object('id', j.id, 'kind', j.kind, 'payload', j.payload, 'explicit', j.explicit))
        FROM fetched AS f CROSS JOIN LATERAL (
            SELECT id, kind, payload, explicit, stamp FROM warp.jobs WHERE id = f.id LIMIT 1) AS j
        WHERE j.stamp IS NULL), '[]'),
    'stamps', coalesce((
        SELECT json_agg(DISTINCT j.stamp)
        FROM fetched AS f CROSS JOIN LATERAL (SELECT stamp FROM warp.jobs WHERE id = f.id LIMIT 1) AS j
        WHERE j.stamp IS NOT NULL), '[]'),
    'held', coalesce((
        SELECT json_agg(json_build_object('job', s.job, 'key', json_build_object('family', s.family, 'key', s.key)))
        FROM json_array_elements_text($5::json) AS e (job) CROSS JOIN LATERAL (
            SELECT job, family, key FROM warp.slots WHERE job = e.job::bigint OFFSET 0) AS s), '[]'),
    'cancelled', coalesce((
        SELECT json_agg(id) FROM warp.jobs WHERE state = 'processing' AND cancelled_at IS NOT NULL AND worker = $1::bigint), '[]'),
    'agenda', 
