SELECT counter, sum(count)::bigint FROM warp.counters GROUP BY counter
