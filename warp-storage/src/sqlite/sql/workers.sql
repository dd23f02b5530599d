-- The workers, the latest instant that anybody saw, and the last line of the log.
json_object(
    'workers', (
        SELECT json_group_array(json_object(
            'id', id, 'process', process, 'queues', json(queues), 'kinds', json(kinds),
            'lease', lease, 'last_seen', last_seen, 'draining', draining))
        FROM warp_workers),
    'latest', (SELECT max(s.latest, coalesce((SELECT max(latest) FROM warp_workers), s.latest)) FROM warp_store AS s),
    'last_line', coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'warp_log'), 0))
