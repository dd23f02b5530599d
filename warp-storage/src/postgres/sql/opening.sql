-- Begins a turn. Locks the worker's row, so that it cannot be declared dead before the turn is over; then the keys of the attempts that
-- ended, in order. Ends those attempts of whose keys it has all, or changes nothing where the claim is no longer held (R81); the slots go
-- with the claims. A cancelled job never becomes ready again. Nobody but this worker ends these jobs while its row is locked, so they may be
-- written by the statement that waits for the keys.
-- $1 worker, $2 now, $3 [{job, claim, state, place, back, error, ended_at, keys: [{family, key}]}], $4 their keys, [{family, key}],
-- $5 whether scheduled jobs have become ready
WITH worker AS MATERIALIZED (
    SELECT id, queues, kinds, draining FROM warp.workers WHERE id = $1::bigint FOR KEY SHARE
)
