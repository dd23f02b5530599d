-- A row that somebody else is changing, a job that is being cancelled, is left to the next turn.
, free AS MATERIALIZED (
    SELECT m.* FROM mine AS m CROSS JOIN LATERAL (
        SELECT id FROM warp.jobs WHERE ctid = m.found FOR NO KEY UPDATE SKIP LOCKED) AS l
)
