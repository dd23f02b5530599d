-- Writes lanes.
-- ?1 [{id, queue, kind, keys, sleep_family, sleep_key, next_at, refusals, rank, place, head}]
INSERT INTO warp_lanes (id, queue, kind, keys, sleep_family, sleep_key, next_at, refusals, head_rank, head_place, head)
SELECT value ->> 'id', value ->> 'queue', value ->> 'kind', value ->> 'keys',
    value ->> 'sleep_family', value ->> 'sleep_key', value ->> 'next_at', value ->> 'refusals',
    value ->> 'rank', value ->> 'place', value ->> 'head'
FROM json_each(?1) WHERE true
ON CONFLICT (id) DO UPDATE SET
    sleep_family = excluded.sleep_family,
    sleep_key = excluded.sleep_key,
    next_at = excluded.next_at,
    refusals = excluded.refusals,
    head_rank = excluded.head_rank,
    head_place = excluded.head_place,
    head = excluded.head
