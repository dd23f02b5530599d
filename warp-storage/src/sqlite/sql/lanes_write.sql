-- Writes lanes; the head is whoever is first now.
-- ?1 [{id, queue, kind, keys, sleep_family, sleep_key, next_at, refusals}]
INSERT INTO warp_lanes (id, queue, kind, keys, sleep_family, sleep_key, next_at, refusals, head_rank, head_place, head)
SELECT n.value ->> 'id', n.value ->> 'queue', n.value ->> 'kind', n.value ->> 'keys',
    n.value ->> 'sleep_family', n.value ->> 'sleep_key', n.value ->> 'next_at', n.value ->> 'refusals',
    j.rank, j.place, j.id
FROM json_each(?1) AS n
CROSS JOIN warp_jobs AS j ON j.id = (
    SELECT w.id FROM warp_jobs AS w WHERE w.state = 'waiting' AND w.lane = n.value ->> 'id' ORDER BY w.rank, w.place, w.id LIMIT 1)
WHERE true
ON CONFLICT (id) DO UPDATE SET
    sleep_family = excluded.sleep_family,
    sleep_key = excluded.sleep_key,
    next_at = excluded.next_at,
    refusals = excluded.refusals,
    head_rank = excluded.head_rank,
    head_place = excluded.head_place,
    head = excluded.head
