-- What a worker can find without anything else happening, and when.
json_build_object(
    'ready', EXISTS (
        SELECT 1 FROM route AS r CROSS JOIN LATERAL (
            SELECT 1 FROM warp.jobs WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind
            ORDER BY queue, kind, rank, place, id LIMIT 1) AS j),
    'scheduled', (
        SELECT min(j.place) FROM route AS r CROSS JOIN LATERAL (
            SELECT place FROM warp.jobs WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind
            ORDER BY queue, kind, place, id LIMIT 1) AS j),
    'look_at', (SELECT look_at FROM warp.limiters WHERE look_at IS NOT NULL ORDER BY look_at, family, key LIMIT 1),
    'lanes', coalesce((
        SELECT json_agg(json_build_object('route', json_build_object('queue', r.queue, 'kind', r.kind), 'next_at', l.next_at))
        FROM route AS r CROSS JOIN LATERAL (
            SELECT next_at FROM warp.lines WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL
            ORDER BY queue, kind, next_at, lane LIMIT 1) AS l), '[]'))
