-- The routes of each line: from one to the next through the index, past all other lanes of the same.
, route_of_line AS (
    SELECT a.number, a.family, a.key, f.queue, f.kind FROM asked AS a CROSS JOIN LATERAL (
        SELECT queue, kind FROM warp.lines WHERE sleep_family = a.family AND sleep_key = a.key
        ORDER BY sleep_family, sleep_key, queue, kind LIMIT 1) AS f
    UNION ALL
    SELECT r.number, r.family, r.key, n.queue, n.kind FROM route_of_line AS r CROSS JOIN LATERAL (
        SELECT queue, kind FROM warp.lines
        WHERE sleep_family = r.family AND sleep_key = r.key AND (queue, kind) > (r.queue, r.kind)
        ORDER BY sleep_family, sleep_key, queue, kind LIMIT 1) AS n
)
SELECT json_build_object(
    'now', (SELECT now FROM moment),
    'limiters', coalesce((
        SELECT json_agg(json_build_object(
            'number', a.number, 'rate', m.rate, 'elder', m.elder, 'look_at', m.look_at,
            'elder_lane', (
                SELECT json_build_object(
                    'route', json_build_object('queue', queue, 'kind', kind),
                    'rank', head_rank, 'place', head_place, 'head', head)
                FROM warp.lines WHERE lane = m.elder LIMIT 1)))
        FROM asked AS a CROSS JOIN LATERAL (
            SELECT rate, elder, look_at FROM warp.limiters WHERE family = a.family AND key = a.key LIMIT 1) AS m), '[]'),
    'used', coalesce((
        SELECT json_agg(json_build_object('number', a.number, 'slots', s.slots))
        FROM asked AS a CROSS JOIN LATERAL (
            SELECT count(*) AS slots FROM warp.slots WHERE family = a.family AND key = a.key OFFSET 0) AS s), '[]'),
    'line', coalesce((
        SELECT json_agg(json_build_object('number', r.number, 'lane',
