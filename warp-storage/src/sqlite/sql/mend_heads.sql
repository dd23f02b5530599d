-- The head of a lane is whoever is first now, and has not been refused yet.
-- ?1 [lane]
UPDATE warp_lanes
SET refusals = iif(head = first.id, refusals, 0), head_rank = first.rank, head_place = first.place, head = first.id
FROM json_each(?1) AS e
CROSS JOIN warp_jobs AS first ON first.id = (
    SELECT w.id FROM warp_jobs AS w WHERE w.state = 'waiting' AND w.lane = e.value ORDER BY w.rank, w.place, w.id LIMIT 1)
WHERE warp_lanes.id = e.value
