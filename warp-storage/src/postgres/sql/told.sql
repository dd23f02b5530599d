-- $1 lines of the log, [{job, worker, event, counter}]
WITH told AS (
    SELECT t.number, t.job, t.worker, t.event, t.counter
    FROM ROWS FROM (json_to_recordset($1::json) AS (job bigint, worker bigint, event text, counter text))
        WITH ORDINALITY AS t (job, worker, event, counter, number)
)
