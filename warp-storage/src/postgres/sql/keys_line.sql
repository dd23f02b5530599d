            ))
        FROM route_of_line AS r CROSS JOIN LATERAL (
            SELECT * FROM warp.lines
            WHERE sleep_family = r.family AND sleep_key = r.key AND queue = r.queue AND kind = r.kind
            ORDER BY sleep_family, sleep_key, queue, kind, head_rank, head_place, head LIMIT $3::bigint) AS l
        CROSS JOIN LATERAL (SELECT keys FROM warp.lanes WHERE id = l.lane LIMIT 1) AS i
        CROSS JOIN LATERAL (SELECT stamp FROM warp.jobs WHERE id = l.head LIMIT 1) AS j), '[]'),
    'lanes', coalesce((
        SELECT json_agg(json_build_object('number', c.number - 1, 'lane',
