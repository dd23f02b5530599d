-- Keys with what is remembered of them and their lines, and the lanes of jobs that may join one.
-- ?1 the keys, [{family, key}], ?2 how many lanes of each route of a line, ?3 the key sets, [{queue, kind, keys}]
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT key AS number, value ->> 'family' AS family, value ->> 'key' AS key FROM json_each(?1)
)
-- The first lane of each route of each line: from route to route through the index, past all others of the same.
, first_of_route(number, lane) AS (
    SELECT number, (
        SELECT l.id FROM warp_lanes AS l WHERE l.sleep_family = a.family AND l.sleep_key = a.key ORDER BY l.queue, l.kind LIMIT 1)
    FROM asked AS a
    UNION ALL
    SELECT f.number, coalesce(
        (SELECT n.id FROM warp_lanes AS n
         WHERE n.sleep_family = l.sleep_family AND n.sleep_key = l.sleep_key AND n.queue = l.queue AND n.kind > l.kind
         ORDER BY n.kind LIMIT 1),
        (SELECT n.id FROM warp_lanes AS n
         WHERE n.sleep_family = l.sleep_family AND n.sleep_key = l.sleep_key AND n.queue > l.queue
         ORDER BY n.queue, n.kind LIMIT 1))
    FROM first_of_route AS f CROSS JOIN warp_lanes AS l ON l.id = f.lane
)
, line AS MATERIALIZED (
    SELECT f.number, e.value AS lane
    FROM first_of_route AS f
    CROSS JOIN warp_lanes AS l ON l.id = f.lane
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_lanes
            WHERE sleep_family = l.sleep_family AND sleep_key = l.sleep_key AND queue = l.queue AND kind = l.kind
            ORDER BY head_rank, head_place, head LIMIT ?2)
    )) AS e
)
SELECT json_object(
    'limiters', (
        SELECT json_group_array(json_object(
            'number', a.number, 'rate', m.rate, 'elder', m.elder, 'look_at', m.look_at,
            'elder_lane', (
                SELECT json_object('route', json_object('queue', queue, 'kind', kind), 'rank', head_rank, 'place', head_place, 'head', head)
                FROM warp_lanes WHERE id = m.elder)))
        FROM asked AS a CROSS JOIN warp_limiters AS m ON m.family = a.family AND m.key = a.key),
    'used', (
        SELECT json_group_array(json_object('number', number, 'slots', slots)) FROM (
            SELECT a.number, count(*) AS slots
            FROM asked AS a CROSS JOIN warp_slots AS s ON s.family = a.family AND s.key = a.key GROUP BY a.number)),
    'line', (
        SELECT json_group_array(json_object(
            'number', i.number, 'lane', json_object(
                'id', l.id, 'route', json_object('queue', l.queue, 'kind', l.kind), 'keys', json(l.keys),
                'sleep_family', l.sleep_family, 'sleep_key', l.sleep_key, 'next_at', l.next_at, 'refusals', l.refusals,
                'rank', l.head_rank, 'place', l.head_place, 'head', l.head, 'stamp', j.stamp)))
        FROM line AS i CROSS JOIN warp_lanes AS l ON l.id = i.lane CROSS JOIN warp_jobs AS j ON j.id = l.head),
    'lanes', (
        SELECT json_group_array(json_object(
            'number', c.key, 'lane', json_object(
                'id', l.id, 'route', json_object('queue', l.queue, 'kind', l.kind), 'keys', json(l.keys),
                'sleep_family', l.sleep_family, 'sleep_key', l.sleep_key, 'next_at', l.next_at, 'refusals', l.refusals,
                'rank', l.head_rank, 'place', l.head_place, 'head', l.head, 'stamp', j.stamp)))
        FROM json_each(?3) AS c
        CROSS JOIN warp_lanes AS l
            ON l.queue = c.value ->> 'queue' AND l.kind = c.value ->> 'kind' AND l.keys = c.value ->> 'keys'
        CROSS JOIN warp_jobs AS j ON j.id = l.head))
