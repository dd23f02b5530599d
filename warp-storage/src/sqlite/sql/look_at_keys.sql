-- ?1 [{family, key}], ?2 now
INSERT INTO warp_limiters (family, key, look_at)
SELECT DISTINCT value ->> 'family', value ->> 'key', ?2 FROM json_each(?1) WHERE true
ON CONFLICT (family, key) DO UPDATE SET look_at = excluded.look_at
