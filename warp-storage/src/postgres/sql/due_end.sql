    , 'looks', coalesce((
        SELECT json_agg(json_build_object('family', family, 'key', key)) FROM (
            SELECT family, key FROM warp.limiters WHERE look_at IS NOT NULL AND look_at <= (SELECT now FROM moment)
            ORDER BY look_at, family, key LIMIT 64) AS l), '[]'),
    'lanes', coalesce((
        SELECT json_agg(json_build_object('id', i.id, 'keys', i.keys::json))
        FROM judged AS g CROSS JOIN LATERAL (SELECT id, keys FROM warp.lanes WHERE id = g.lane LIMIT 1) AS i), '[]'),
    'ready', coalesce((
        SELECT json_agg(json_build_object(
            'route', json_build_object('queue', queue, 'kind', kind), 'job', json_build_object(
                'id', id, 'rank', rank, 'place', place, 'attempts', attempts, 'starts', starts, 'stamp', stamp)))
        FROM taken), '[]'))
