-- ?1 [{family, key}]
DELETE FROM warp_limiters WHERE (family, key) IN (SELECT value ->> 'family', value ->> 'key' FROM json_each(?1))
