-- Adds the rows of keys that have none. Always a transaction of its own: another one that adds the same key waits for its end.
-- $1 [{family, key}]
INSERT INTO warp.limiters (family, key)
SELECT family, key FROM json_to_recordset($1::json) AS a (family text, key text)
ORDER BY family COLLATE "C", key COLLATE "C"
ON CONFLICT (family, key) DO NOTHING
