-- Gives back what a worker ran, with its slots, and takes it out. What it saw of the clock must not go with it.
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
    WHERE j.ctid = f.found
)
, gone AS (
    DELETE FROM warp.workers WHERE id = $1::bigint RETURNING latest
)
, latest AS (
    UPDATE warp.store AS s SET latest = greatest(s.latest, g.latest) FROM gone AS g
)
, told AS (
    SELECT t.number, t.job, t.worker, t.event, t.counter
    FROM ROWS FROM (json_to_recordset($4::json) AS (job bigint, worker bigint, event text, counter text))
        WITH ORDINALITY AS t (job, worker, event, counter, number)
)
