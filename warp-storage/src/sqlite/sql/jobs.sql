-- The jobs to judge: ready ones, and the first of each lane.
-- ?8 the lanes, [id], ?9 how many jobs of each
SELECT json_object(
    'ready', (
        SELECT json_group_array(json_object(
            'route', json_object('queue', j.queue, 'kind', j.kind), 'job', json_object(
                'id', j.id, 'rank', j.rank, 'place', j.place, 'attempts', j.attempts, 'starts', j.starts, 'stamp', j.stamp)))
        FROM fetched AS f CROSS JOIN warp_jobs AS j ON j.id = f.id),
    'lanes', (
        SELECT json_group_array(json(jobs)) FROM (
            SELECT (
                SELECT json_group_array(json_object(
                    'id', id, 'rank', rank, 'place', place, 'attempts', attempts, 'starts', starts, 'stamp', stamp))
                FROM (
                    SELECT id, rank, place, attempts, starts, stamp FROM warp_jobs
                    WHERE state = 'waiting' AND lane = l.value ORDER BY rank, place, id LIMIT ?9)) AS jobs
            FROM json_each(?8) AS l)))
