-- Gives back what a worker ran, with its slots.
-- $1 worker, $2 now, $3 [{job, state, place, attempts, lost, error, ended_at}], $4 lines of the log
WITH back AS MATERIALIZED (
    SELECT b.* FROM json_to_recordset($3::json) AS b (
        job bigint, state text, place bigint, attempts integer, lost integer, error text, ended_at bigint)
)
, job AS (
    UPDATE warp.jobs AS j
    SET state = b.state,
        place = coalesce(b.place, j.place),
        attempts = greatest(0, j.attempts - b.attempts),
        lost = j.lost + b.lost,
        error = coalesce(b.error, j.error),
        ended_at = b.ended_at,
        worker = NULL,
        claim = NULL
    FROM back AS b CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.jobs WHERE id = b.job LIMIT 1) AS f
    WHERE j.ctid = f.found AND j.worker = $1::bigint
)
, told AS (
    SELECT t.number, t.job, t.worker, t.event, t.counter
    FROM ROWS FROM (json_to_recordset($4::json) AS (job bigint, worker bigint, event text, counter text))
        WITH ORDINALITY AS t (job, worker, event, counter, number)
)
