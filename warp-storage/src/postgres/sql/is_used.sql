            m.look_at IS NOT NULL
            OR EXISTS (SELECT 1 FROM warp.slots AS s WHERE s.family = m.family AND s.key = m.key OFFSET 0)
            OR EXISTS (SELECT 1 FROM warp.lanes AS l WHERE l.id = m.elder OFFSET 0)
            OR EXISTS (SELECT 1 FROM warp.lines AS l WHERE l.sleep_family = m.family AND l.sleep_key = m.key OFFSET 0)
