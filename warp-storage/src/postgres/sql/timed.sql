-- Whether another lane of this route that sleeps on this key is due by then.
-- $1 queue, $2 kind, $3 family, $4 key, $5 instant
SELECT EXISTS (
    SELECT 1 FROM warp.lines
    WHERE sleep_family = $3::text AND sleep_key = $4::text AND queue = $1::text AND kind = $2::text
      AND next_at IS NOT NULL AND next_at <= $5::bigint)
