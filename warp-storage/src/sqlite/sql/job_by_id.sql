WHERE j.id = ?1
