            ) ORDER BY m.family, m.key)
        FROM (
            SELECT family, key, rate, elder, look_at FROM warp.limiters
            WHERE (family, key) > ($3::text, $4::text) ORDER BY family, key LIMIT $5::bigint) AS m), '[]'))
