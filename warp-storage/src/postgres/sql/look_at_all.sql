-- The clock went back: has every line looked at, for its lanes are timed by what the clock showed before (R66).
-- $1 now
INSERT INTO warp.limiters (family, key, look_at)
SELECT DISTINCT sleep_family, sleep_key, $1::bigint FROM warp.lines ORDER BY 1, 2
ON CONFLICT (family, key) DO UPDATE SET look_at = excluded.look_at
