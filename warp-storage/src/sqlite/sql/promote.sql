-- Writes down that scheduled jobs are ready, so that they stay so if the clock goes back (R66), and stand in the order of all others.
-- ?2 now
UPDATE warp_jobs SET state = 'enqueued' WHERE id IN (
    SELECT e.value FROM route AS r
    CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
            SELECT id FROM warp_jobs
            WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= ?2
            ORDER BY place, id LIMIT 1000)
    )) AS e)
