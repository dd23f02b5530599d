-- Has the lines looked at in which the lanes of these queues and kinds stand, and those that keep something for them (R43, R46).
-- ?1 queues, ?2 kinds, ?3 now
INSERT INTO warp_limiters (family, key, look_at)
SELECT DISTINCT k.value ->> 'family', k.value ->> 'key', ?3
FROM json_each(?1) AS q CROSS JOIN json_each(?2) AS i
CROSS JOIN warp_lanes AS l ON l.queue = q.value AND l.kind = i.value
CROSS JOIN json_each(l.keys) AS k
WHERE true
ON CONFLICT (family, key) DO UPDATE SET look_at = excluded.look_at
