-- Running jobs can be cancelled: they end when their handlers have.
ALTER TABLE warp.jobs ADD COLUMN cancelled_at bigint;

CREATE INDEX jobs_cancelled ON warp.jobs (worker, id) WHERE state = 'processing' AND cancelled_at IS NOT NULL;

-- Claims of which a worker could not write how they ended: the next sweep gives their jobs back (R80, R85).
ALTER TABLE warp.workers ADD COLUMN disowned bigint[] NOT NULL DEFAULT '{}';
