INSERT INTO warp_workers (name, process, queues, kinds, lease, last_seen, latest, turn)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0)
RETURNING id
