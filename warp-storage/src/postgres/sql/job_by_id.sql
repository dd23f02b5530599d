    WHERE j.id = $1::bigint LIMIT 1
