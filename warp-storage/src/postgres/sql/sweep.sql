-- The next keys with a line, and the next limiters, after those that the last sweep came to.
-- $1 $2 the last key with a line, $3 $4 the last limiter, $5 how many
WITH RECURSIVE line AS (
    SELECT 0::bigint AS number, $1::text COLLATE "C" AS family, $2::text COLLATE "C" AS key
    UNION ALL
    SELECT l.number + 1, n.sleep_family, n.sleep_key
    FROM line AS l CROSS JOIN LATERAL (
        SELECT sleep_family, sleep_key FROM warp.lines WHERE (sleep_family, sleep_key) > (l.family, l.key)
        ORDER BY sleep_family, sleep_key LIMIT 1) AS n
    WHERE l.number < $5::bigint
)
SELECT json_build_object(
    'lines', coalesce((SELECT json_agg(json_build_object('family', family, 'key', key) ORDER BY number) FROM line WHERE number > 0), '[]'),
    'limiters', coalesce((
        SELECT json_agg(json_build_object(
            'key', json_build_object('family', m.family, 'key', m.key), 'rate', m.rate, 'is_used',
