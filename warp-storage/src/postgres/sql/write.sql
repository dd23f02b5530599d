-- Writes everything that a turn decided, or a sweep restored. No row is written twice in it, and all are locked, or belong to locked keys.
-- A row is looked up by its key first and then written where it was found: so the table is never on the outer side of the join.
-- $1 worker, $2 now, $3 jobs, $4 new lanes, $5 lanes that change, $6 lanes that go, $7 limiters, $8 lines of the log
WITH new_lane AS MATERIALIZED (
    SELECT nextval('warp.lane_ids') AS id, n.*
    FROM json_to_recordset($4::json) AS n (
        number bigint, queue text, kind text, keys text, sleep_family text, sleep_key text, next_at bigint, refusals integer,
        rank bigint, place bigint, head bigint)
)
, new_lanes AS MATERIALIZED (
    SELECT array_agg(id ORDER BY number) AS ids FROM new_lane
)
, decided AS MATERIALIZED (
    SELECT d.*, coalesce(d.lane, n.ids[d.new_lane + 1]) AS its_lane, CASE WHEN d.state = 'processing' THEN nextval('warp.claims') END AS claim
    FROM new_lanes AS n CROSS JOIN json_to_recordset($3::json) AS d (
        job bigint, state text, lane bigint, new_lane integer, at bigint, ended_at bigint, stamp text, error text, slots json)
)
, job AS (
    UPDATE warp.jobs AS j
    SET state = d.state,
        lane = d.its_lane,
        worker = CASE WHEN d.state = 'processing' THEN $1::bigint END,
        claim = d.claim,
        attempts = j.attempts + (d.state = 'processing')::integer,
        starts = j.starts + (d.state = 'processing')::integer,
        admitted_at = coalesce(d.at, j.admitted_at),
        ended_at = d.ended_at,
        stamp = coalesce(d.stamp, j.stamp),
        error = coalesce(d.error, j.error)
    FROM decided AS d CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.jobs WHERE id = d.job LIMIT 1) AS f
    WHERE j.ctid = f.found
    RETURNING j.id, j.claim, j.attempts, j.payload
)
, slot AS (
    INSERT INTO warp.slots (family, key, job, claim)
    SELECT s.family, s.key, d.job, d.claim
    FROM decided AS d CROSS JOIN LATERAL json_to_recordset(d.slots) AS s (family text, key text)
)
, lane AS (
    INSERT INTO warp.lanes (id, queue, kind, keys) SELECT id, queue, kind, keys FROM new_lane
)
, line AS (
    INSERT INTO warp.lines (lane, queue, kind, sleep_family, sleep_key, next_at, refusals, head_rank, head_place, head)
    SELECT id, queue, kind, sleep_family, sleep_key, next_at, refusals, rank, place, head FROM new_lane
)
, changed_line AS (
    UPDATE warp.lines AS l
    SET sleep_family = w.sleep_family,
        sleep_key = w.sleep_key,
        next_at = w.next_at,
        refusals = w.refusals,
        head_rank = w.rank,
        head_place = w.place,
        head = w.head
    FROM json_to_recordset($5::json) AS w (
        id bigint, sleep_family text, sleep_key text, next_at bigint, refusals integer, rank bigint, place bigint, head bigint,
        old_rank bigint, old_place bigint, old_head bigint)
    CROSS JOIN LATERAL (
        SELECT ctid AS found FROM warp.lines
        WHERE lane = w.id AND head_rank = w.old_rank AND head_place = w.old_place AND head = w.old_head LIMIT 1) AS f
    WHERE l.ctid = f.found
)
, gone_line AS (
    DELETE FROM warp.lines AS l
    USING json_to_recordset($6::json) AS g (id bigint, old_rank bigint, old_place bigint, old_head bigint)
    CROSS JOIN LATERAL (
        SELECT ctid AS found FROM warp.lines
        WHERE lane = g.id AND head_rank = g.old_rank AND head_place = g.old_place AND head = g.old_head LIMIT 1) AS f
    WHERE l.ctid = f.found
)
, gone_lane AS (
    DELETE FROM warp.lanes AS l
    USING json_to_recordset($6::json) AS g (id bigint)
    CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.lanes WHERE id = g.id LIMIT 1) AS f
    WHERE l.ctid = f.found
)
-- A rate of null leaves the known starts as they are.
, limiter AS (
    UPDATE warp.limiters AS m
    SET rate = coalesce(w.rate, m.rate), elder = w.elder, look_at = w.look_at
    FROM json_to_recordset($7::json) AS w (family text, key text, rate text, elder bigint, look_at bigint)
    CROSS JOIN LATERAL (SELECT ctid AS found FROM warp.limiters WHERE family = w.family AND key = w.key LIMIT 1) AS f
    WHERE m.ctid = f.found
)
, told AS (
    SELECT t.number, t.job, t.worker, t.event, t.counter
    FROM ROWS FROM (json_to_recordset($8::json) AS (job bigint, worker bigint, event text, counter text))
        WITH ORDINALITY AS t (job, worker, event, counter, number)
    UNION ALL
    SELECT 9223372036854775807, id, $1::bigint, json_build_object('started', json_build_object('attempt', attempts, 'claim', claim))::text, NULL
    FROM job WHERE claim IS NOT NULL
)
