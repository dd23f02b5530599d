-- $1 worker, $2 now, $3 whether it drains from now on
UPDATE warp.workers SET last_seen = $2::bigint, draining = draining OR $3::boolean WHERE id = $1::bigint
RETURNING id
