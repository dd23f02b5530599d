-- The workers, and the latest instant that anybody saw.
json_build_object(
    'workers', coalesce((
        SELECT json_agg(json_build_object(
            'id', id, 'queues', to_json(queues), 'kinds', to_json(kinds),
            'lease', lease, 'last_seen', last_seen, 'draining', draining))
        FROM warp.workers), '[]'),
    'latest', (SELECT greatest(s.latest, (SELECT max(latest) FROM warp.workers)) FROM warp.store AS s))
