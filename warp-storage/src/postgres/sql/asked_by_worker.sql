, asked AS MATERIALIZED (
    SELECT a.family, a.key FROM worker CROSS JOIN json_to_recordset($4::json) AS a (family text, key text)
    ORDER BY a.family COLLATE "C", a.key COLLATE "C"
)
