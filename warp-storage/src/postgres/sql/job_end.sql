) AS j
LEFT JOIN LATERAL (SELECT sleep_family, sleep_key, next_at FROM warp.lines WHERE lane = j.lane LIMIT 1) AS l ON true
ORDER BY j.id
