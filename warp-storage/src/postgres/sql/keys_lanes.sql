            ))
        FROM ROWS FROM (json_to_recordset($4::json) AS (queue text, kind text, keys text))
            WITH ORDINALITY AS c (queue, kind, keys, number)
        CROSS JOIN LATERAL (
            SELECT id, keys FROM warp.lanes
            WHERE queue = c.queue AND kind = c.kind AND md5(keys) = md5(c.keys) AND keys = c.keys LIMIT 1) AS i
        CROSS JOIN LATERAL (SELECT * FROM warp.lines WHERE lane = i.id LIMIT 1) AS l
        CROSS JOIN LATERAL (SELECT stamp FROM warp.jobs WHERE id = l.head LIMIT 1) AS j), '[]'),
    'judged', coalesce((
        SELECT json_agg(json_build_object('lane',
