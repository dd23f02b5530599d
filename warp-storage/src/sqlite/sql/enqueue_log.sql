-- ?1 [{job, event}], ?2 now
INSERT INTO warp_log (job, at, worker, event, counter)
SELECT value ->> 'job', ?2, NULL, value ->> 'event', NULL FROM json_each(?1)
