    , 'last_lane', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'warp_lanes'), 0),
    'looks', (
        SELECT json_group_array(json_object('family', family, 'key', key)) FROM (
            SELECT family, key FROM warp_limiters WHERE look_at IS NOT NULL AND look_at <= ?2
            ORDER BY look_at, family, key LIMIT 64)),
    'lanes', (
        SELECT json_group_array(json_object(
            'lane', json_object(
                'id', l.id, 'route', json_object('queue', l.queue, 'kind', l.kind), 'keys', json(l.keys),
                'sleep_family', l.sleep_family, 'sleep_key', l.sleep_key, 'next_at', l.next_at, 'refusals', l.refusals,
                'rank', l.head_rank, 'place', l.head_place, 'head', l.head),
            -- One job more than fit the room and are read, to know whether there are more.
            'jobs', json((
                SELECT json_group_array(json_object(
                    'id', id, 'rank', rank, 'place', place, 'attempts', attempts, 'starts', starts, 'stamp', stamp))
                FROM (
                    SELECT id, rank, place, attempts, starts, stamp FROM warp_jobs
                    WHERE state = 'waiting' AND lane = l.id ORDER BY rank, place, id LIMIT ?3 + 2)))))
        FROM judged AS g CROSS JOIN warp_lanes AS l ON l.id = g.id),
    'ready', (
        SELECT json_group_array(json_object(
            'route', json_object('queue', j.queue, 'kind', j.kind), 'job', json_object(
                'id', j.id, 'rank', j.rank, 'place', j.place, 'attempts', j.attempts, 'starts', j.starts, 'stamp', j.stamp)))
        FROM fetched AS f CROSS JOIN warp_jobs AS j ON j.id = f.id))
