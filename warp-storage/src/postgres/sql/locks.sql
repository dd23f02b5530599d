    'locked', coalesce((SELECT json_agg(json_build_object('family', family, 'key', key)) FROM locked), '[]'),
    'missing', coalesce((
        SELECT json_agg(json_build_object('family', a.family, 'key', a.key))
        FROM asked AS a LEFT JOIN LATERAL (
            SELECT 1 AS is_there FROM warp.limiters WHERE family = a.family AND key = a.key LIMIT 1) AS m ON true
        WHERE m.is_there IS NULL), '[]'))
