-- $1 name, $3 queues, $4 kinds, $5 lease
INSERT INTO warp.workers (name, queues, kinds, lease, last_seen, latest, turn)
SELECT $1::text, ARRAY(SELECT json_array_elements_text($3::json)), ARRAY(SELECT json_array_elements_text($4::json)), $5::bigint, now, now, 0
FROM moment
RETURNING id, last_seen
