-- Deletes the lanes in which nobody waits any more. What their keys kept for them is for others now.
-- ?1 [lane]
DELETE FROM warp_lanes
WHERE id IN (SELECT value FROM json_each(?1))
  AND NOT EXISTS (SELECT 1 FROM warp_jobs AS j WHERE j.state = 'waiting' AND j.lane = warp_lanes.id)
RETURNING keys
