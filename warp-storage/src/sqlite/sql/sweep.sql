-- The next keys with a line, and the next limiters, after those that the last sweep came to.
-- ?1 ?2 the last key with a line, ?3 ?4 the last limiter, ?5 how many
WITH RECURSIVE line(number, family, key) AS (
    SELECT 0, ?1, ?2
    UNION ALL
    SELECT l.number + 1, n.sleep_family, n.sleep_key
    FROM line AS l CROSS JOIN warp_lanes AS n ON n.id = coalesce(
        (SELECT id FROM warp_lanes WHERE sleep_family = l.family AND sleep_key > l.key ORDER BY sleep_key LIMIT 1),
        (SELECT id FROM warp_lanes WHERE sleep_family > l.family ORDER BY sleep_family, sleep_key LIMIT 1))
    WHERE l.number < ?5
)
SELECT json_object(
    'lines', (SELECT json_group_array(json_object('family', family, 'key', key)) FROM line WHERE number > 0),
    'limiters', (
        SELECT json_group_array(json_object(
            'key', json_object('family', family, 'key', key), 'rate', rate, 'is_used', is_used))
        FROM (
            SELECT m.family, m.key, m.rate,
                m.look_at IS NOT NULL
                OR EXISTS (SELECT 1 FROM warp_slots AS s WHERE s.family = m.family AND s.key = m.key)
                OR EXISTS (SELECT 1 FROM warp_lanes AS l WHERE l.id = m.elder)
                OR EXISTS (SELECT 1 FROM warp_lanes AS l WHERE l.sleep_family = m.family AND l.sleep_key = m.key) AS is_used
            FROM warp_limiters AS m
            WHERE (m.family, m.key) > (?3, ?4) ORDER BY m.family, m.key LIMIT ?5)))
