-- ?1 job
SELECT at, worker, event FROM warp_log WHERE job = ?1 ORDER BY id
