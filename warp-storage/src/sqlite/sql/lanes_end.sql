    , 'last_lane', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'warp_lanes'), 0),
    'looks', (
        SELECT json_group_array(json_object('family', family, 'key', key)) FROM (
            SELECT family, key FROM warp_limiters WHERE look_at IS NOT NULL AND look_at <= ?2
            ORDER BY look_at, family, key LIMIT 64)),
    'lanes', (
        SELECT json_group_array(json_object(
            'id', id, 'route', json_object('queue', queue, 'kind', kind), 'keys', json(keys), 'sleep_family', sleep_family, 'sleep_key', sleep_key,
            'next_at', next_at, 'refusals', refusals, 'rank', head_rank, 'place', head_place, 'head', head))
        FROM judged))
