-- Running jobs can be cancelled: they end when their handlers have.
ALTER TABLE warp.jobs ADD COLUMN cancelled_at bigint;

CREATE INDEX jobs_cancelled ON warp.jobs (worker, id) WHERE state = 'processing' AND cancelled_at IS NOT NULL;
