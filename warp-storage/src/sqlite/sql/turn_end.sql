-- Notes the turn, by which a worker also says that it is alive, and answers when the next one can find something.
-- ?1 worker, ?2 now, ?3 turn
UPDATE warp_workers SET last_seen = ?2, latest = max(latest, ?2), turn = ?3 WHERE id = ?1
RETURNING (
