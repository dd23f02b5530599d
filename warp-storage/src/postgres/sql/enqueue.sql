-- Adds jobs to this very schema, or nothing where a caller's transaction is on another one.
-- $1 [{kind, queue, rank, at, after, explicit, payload}], $2 now, $3 the schema's id
WITH given AS MATERIALIZED (
    SELECT g.*
    FROM ROWS FROM (json_to_recordset($1::json) AS (
        kind text, queue text, rank bigint, at bigint, after bigint, explicit text, payload text))
        WITH ORDINALITY AS g (kind, queue, rank, at, after, explicit, payload, number)
    WHERE (SELECT id FROM warp.store) = $3::text
)
