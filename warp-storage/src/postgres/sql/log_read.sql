-- $1 job
SELECT at, worker, event FROM warp.log WHERE job = $1::bigint ORDER BY job, id
