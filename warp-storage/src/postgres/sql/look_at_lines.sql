-- Has the lines looked at in which the lanes of these queues and kinds stand, and those that keep something for them (R43, R46).
-- $1 queues, $2 now, $3 kinds
INSERT INTO warp.limiters (family, key, look_at)
SELECT DISTINCT k.family COLLATE "C", k.key COLLATE "C", $2::bigint
FROM json_array_elements_text($1::json) AS q (queue) CROSS JOIN json_array_elements_text($3::json) AS i (kind)
CROSS JOIN LATERAL (SELECT keys FROM warp.lanes WHERE queue = q.queue AND kind = i.kind OFFSET 0) AS l
CROSS JOIN LATERAL json_to_recordset(l.keys::json) AS k (family text, key text)
ORDER BY 1, 2
ON CONFLICT (family, key) DO UPDATE SET look_at = excluded.look_at
