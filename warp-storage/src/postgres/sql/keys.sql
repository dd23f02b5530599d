-- Locked keys with what is remembered of them and their lines, the lanes to judge, and the lanes of jobs that may join one.
-- $1 the keys, [{family, key}], $2 now, $3 how many lanes of each route of a line, $4 the key sets, [{queue, kind, keys}],
-- $5 the lanes to judge, [id], $6 room
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT a.number - 1 AS number, a.family, a.key
    FROM ROWS FROM (json_to_recordset($1::json) AS (family text, key text)) WITH ORDINALITY AS a (family, key, number)
)
