, placed AS MATERIALIZED (
    SELECT g.*, m.now, greatest(m.now, coalesce(g.at, m.now + coalesce(g.after, 0))) AS place FROM given AS g CROSS JOIN moment AS m
)
, added AS (
    INSERT INTO warp.jobs (state, queue, kind, rank, place, enqueued_at, explicit, payload)
    SELECT CASE WHEN place > now THEN 'scheduled' ELSE 'enqueued' END, queue, kind, rank, place, now, explicit, payload
    FROM placed ORDER BY number
    RETURNING id, place, enqueued_at
)
, logged AS (
    INSERT INTO warp.log (job, at, event)
    SELECT id, enqueued_at, json_build_object('enqueued', json_build_object('place', place))::text FROM added ORDER BY id
)
SELECT id FROM added ORDER BY id
