DELETE FROM warp_workers WHERE id = ?1
