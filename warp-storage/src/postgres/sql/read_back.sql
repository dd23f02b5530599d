-- What a worker runs: the claims, and the jobs of those that it does not know.
-- $1 worker, $2 the claims that it knows, [claim]
WITH running AS MATERIALIZED (
    SELECT id, claim, kind, queue, payload, attempts, admitted_at
    FROM warp.jobs WHERE state = 'processing' AND worker = $1::bigint
)
SELECT json_build_object(
    'claims', coalesce((SELECT json_agg(claim) FROM running), '[]'),
    'unknown', coalesce((
        SELECT json_agg(json_build_object(
            'job', id, 'claim', claim, 'kind', kind, 'queue', queue, 'payload', payload, 'attempt', attempts, 'admitted_at', admitted_at))
        FROM running
        WHERE claim NOT IN (SELECT k.claim::bigint FROM json_array_elements_text($2::json) AS k (claim))), '[]'))
