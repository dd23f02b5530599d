-- Running jobs can be cancelled: they end when their handlers have.
ALTER TABLE warp_jobs ADD COLUMN cancelled_at INTEGER;

CREATE INDEX warp_jobs_cancelled ON warp_jobs (worker, id) WHERE state = 'processing' AND cancelled_at IS NOT NULL;
