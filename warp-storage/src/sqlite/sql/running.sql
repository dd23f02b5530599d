-- What a worker runs, and the keys of which it holds a slot.
-- ?1 worker, ?2 the one claim that is meant, or null for all
SELECT json_object(
    'jobs', (
        SELECT json_group_array(json_object('id', id, 'lost', lost, 'is_cancelled', cancelled_at IS NOT NULL)) FROM (
            SELECT id, lost, cancelled_at FROM warp_jobs WHERE state = 'processing' AND worker = ?1 AND (?2 IS NULL OR claim = ?2) ORDER BY id)),
    'keys', (
        SELECT json_group_array(json_object('family', family, 'key', key)) FROM (
            SELECT DISTINCT s.family, s.key
            FROM warp_jobs AS j CROSS JOIN warp_slots AS s ON s.job = j.id
            WHERE j.state = 'processing' AND j.worker = ?1 AND (?2 IS NULL OR j.claim = ?2))))
