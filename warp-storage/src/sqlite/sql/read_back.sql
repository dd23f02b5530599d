-- What a worker runs: the claims, and the jobs of those that it does not know.
-- ?1 worker, ?2 the claims that it knows, [claim]
SELECT json_object(
    'is_registered', EXISTS (SELECT 1 FROM warp_workers WHERE id = ?1),
    'claims', (
        SELECT json_group_array(claim) FROM warp_jobs WHERE state = 'processing' AND worker = ?1),
    'unknown', (
        SELECT json_group_array(json_object(
            'job', id, 'claim', claim, 'kind', kind, 'queue', queue, 'payload', payload, 'attempt', attempts, 'admitted_at', admitted_at))
        FROM warp_jobs
        WHERE state = 'processing' AND worker = ?1 AND claim NOT IN (SELECT value FROM json_each(?2))))
