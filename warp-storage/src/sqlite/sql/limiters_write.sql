-- Writes limiters; a rate of null leaves the known starts as they are.
-- ?1 [{family, key, rate, elder, look_at}]
INSERT INTO warp_limiters (family, key, rate, elder, look_at)
SELECT value ->> 'family', value ->> 'key', value ->> 'rate', value ->> 'elder', value ->> 'look_at' FROM json_each(?1) WHERE true
ON CONFLICT (family, key) DO UPDATE SET
    rate = coalesce(excluded.rate, rate),
    elder = excluded.elder,
    look_at = excluded.look_at
