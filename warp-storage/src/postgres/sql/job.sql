-- One job, or a list.
SELECT json_build_object(
    'id', j.id, 'state', j.state, 'queue', j.queue, 'kind', j.kind, 'rank', j.rank, 'place', j.place, 'attempts', j.attempts,
    'lost', j.lost, 'worker', j.worker, 'claim', j.claim, 'enqueued_at', j.enqueued_at, 'admitted_at', j.admitted_at,
    'cancelled_at', j.cancelled_at, 'ended_at', j.ended_at, 'explicit', j.explicit, 'stamp', j.stamp, 'error', j.error, 'payload', j.payload,
    'sleep_family', l.sleep_family, 'sleep_key', l.sleep_key, 'next_at', l.next_at, 'now', m.now)::text
FROM moment AS m CROSS JOIN LATERAL (
    SELECT * FROM warp.jobs AS j
