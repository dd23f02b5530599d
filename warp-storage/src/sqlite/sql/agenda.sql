-- What a worker can find without anything else happening, and when.
json_object(
    'ready', EXISTS (
        SELECT 1 FROM route AS r
        CROSS JOIN warp_jobs AS j ON j.state = 'enqueued' AND j.queue = r.queue AND j.kind = r.kind),
    'scheduled', (
        SELECT min(place) FROM (
            SELECT (SELECT j.place FROM warp_jobs AS j WHERE j.state = 'scheduled' AND j.queue = r.queue AND j.kind = r.kind
                    ORDER BY j.place LIMIT 1) AS place
            FROM route AS r)),
    'look_at', (SELECT l.look_at FROM warp_limiters AS l WHERE l.look_at IS NOT NULL ORDER BY l.look_at LIMIT 1),
    'lanes', (
        SELECT json_group_array(json_object('route', json_object('queue', queue, 'kind', kind), 'next_at', next_at)) FROM (
            SELECT r.queue, r.kind, (
                SELECT l.next_at FROM warp_lanes AS l WHERE l.queue = r.queue AND l.kind = r.kind AND l.next_at IS NOT NULL
                ORDER BY l.next_at LIMIT 1) AS next_at
            FROM route AS r)
        WHERE next_at IS NOT NULL))
