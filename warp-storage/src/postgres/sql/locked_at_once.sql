, locked AS MATERIALIZED (
    SELECT l.family, l.key FROM asked AS a CROSS JOIN LATERAL (
        SELECT family, key FROM warp.limiters WHERE family = a.family AND key = a.key FOR NO KEY UPDATE SKIP LOCKED) AS l
)
