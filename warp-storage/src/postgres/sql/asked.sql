-- Locks keys, in order. Which of them had no row is told too: such a key is locked by nobody, and must never be taken for free.
-- $1 [{family, key}]
WITH asked AS MATERIALIZED (
    SELECT a.family, a.key FROM json_to_recordset($1::json) AS a (family text, key text)
    ORDER BY a.family COLLATE "C", a.key COLLATE "C"
)
