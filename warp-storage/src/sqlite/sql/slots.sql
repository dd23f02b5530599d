-- ?1 [{family, key, job}]
INSERT INTO warp_slots (family, key, job)
SELECT value ->> 'family', value ->> 'key', value ->> 'job' FROM json_each(?1)
