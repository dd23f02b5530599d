-- ?1 [id]
DELETE FROM warp_lanes WHERE id IN (SELECT value FROM json_each(?1))
