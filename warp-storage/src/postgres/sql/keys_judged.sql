            -- One job more than fit the room and are read, to know whether there are more.
            , 'jobs', coalesce((
                SELECT json_agg(json_build_object(
                    'id', w.id, 'rank', w.rank, 'place', w.place, 'attempts', w.attempts, 'starts', w.starts, 'stamp', w.stamp))
                FROM (
                    SELECT id, rank, place, attempts, starts, stamp FROM warp.jobs
                    WHERE state = 'waiting' AND lane = l.lane AND (rank, place, id) >= (l.head_rank, l.head_place, l.head)
                    ORDER BY lane, rank, place, id LIMIT $6::bigint + 2) AS w), '[]')))
        FROM json_array_elements_text($5::json) AS g (id)
        CROSS JOIN LATERAL (SELECT id, keys FROM warp.lanes WHERE id = g.id::bigint LIMIT 1) AS i
        CROSS JOIN LATERAL (SELECT * FROM warp.lines WHERE lane = i.id LIMIT 1) AS l
        CROSS JOIN LATERAL (SELECT stamp FROM warp.jobs WHERE id = l.head LIMIT 1) AS j), '[]'),
    'presence',
