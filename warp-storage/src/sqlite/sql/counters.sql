SELECT counter, sum(count) FROM warp_counters GROUP BY counter
