-- ?1 [{id, job, worker, event, counter}], ?2 now
INSERT INTO warp_log (id, job, at, worker, event, counter)
SELECT value ->> 'id', value ->> 'job', ?2, value ->> 'worker', value ->> 'event', value ->> 'counter' FROM json_each(?1)
