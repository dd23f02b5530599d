-- Writes lines of the log, and counts them.
-- $2 now
, logged AS (
    INSERT INTO warp.log (job, at, worker, event, counter)
    SELECT job, $2::bigint, worker, event, counter FROM told ORDER BY number, job
    RETURNING at, worker, counter
)
, counted AS (
    INSERT INTO warp.counters (counter, hour, worker, count)
    SELECT counter, (at - (at % 3600000000 + 3600000000) % 3600000000) / 3600000000 AS hour, coalesce(worker, 0) AS worker, count(*)
    FROM logged WHERE counter IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (counter, hour, worker) DO UPDATE SET count = counters.count + excluded.count
)
