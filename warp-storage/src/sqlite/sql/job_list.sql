-- ?1 after this id, ?2 state, ?3 kind, ?4 queue, ?5 how many, ?6 now
WHERE j.id > ?1
  AND (?2 IS NULL OR ?2 = iif(j.state = 'scheduled' AND j.place <= ?6, 'enqueued', j.state))
  AND (?3 IS NULL OR j.kind = ?3)
  AND (?4 IS NULL OR j.queue = ?4)
ORDER BY j.id LIMIT ?5
