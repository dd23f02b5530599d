-- Notes the turn, by which a worker also says that it is alive, and answers when the next one can find something. It is the last
-- statement of the turn: until the commit a heartbeat has to wait for it.
-- $1 worker, $2 now, $3 turn
UPDATE warp.workers SET last_seen = $2::bigint, latest = greatest(latest, $2::bigint), turn = greatest(turn, $3::bigint) WHERE id = $1::bigint
RETURNING
