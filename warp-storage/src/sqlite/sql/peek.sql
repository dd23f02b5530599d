-- What a turn has to know before it takes the write lock: whether there is anything to do, and which jobs have no stamp yet.
-- ?5 the jobs of the attempts that ended, [id]
SELECT json_object(
    'worker', (SELECT json_object('lease', lease, 'last_seen', last_seen) FROM warp_workers WHERE id = ?1),
    'latest', (SELECT max(s.latest, coalesce((SELECT max(latest) FROM warp_workers), s.latest)) FROM warp_store AS s),
    'unresolved', (
        SELECT json_group_array(json_object('id', j.id, 'kind', j.kind, 'payload', j.payload, 'explicit', j.explicit))
        FROM fetched AS f CROSS JOIN warp_jobs AS j ON j.id = f.id WHERE j.stamp IS NULL),
    'held', (
        SELECT json_group_array(json_object('job', s.job, 'key', json_object('family', s.family, 'key', s.key)))
        FROM json_each(?5) AS e CROSS JOIN warp_slots AS s ON s.job = e.value),
    'cancelled', (
        SELECT json_group_array(id) FROM warp_jobs WHERE state = 'processing' AND cancelled_at IS NOT NULL AND worker = ?1),
    'agenda', 
