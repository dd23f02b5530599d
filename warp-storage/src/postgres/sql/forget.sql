-- Forgets limiters that are locked, where nobody has come to use them since they were read.
-- $1 [{family, key, rate}]
WITH asked AS MATERIALIZED (
    SELECT family, key, rate FROM json_to_recordset($1::json) AS a (family text, key text, rate text)
)
, idle AS MATERIALIZED (
    SELECT m.found FROM asked AS a CROSS JOIN LATERAL (
        SELECT ctid AS found, family, key, rate, elder, look_at FROM warp.limiters WHERE family = a.family AND key = a.key LIMIT 1) AS m
    WHERE m.rate IS NOT DISTINCT FROM a.rate AND CASE WHEN
