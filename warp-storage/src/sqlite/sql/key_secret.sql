-- Keeps the fingerprint of a secret, if none is kept. Tells whether it is the one that is kept.
-- ?1 fingerprint
UPDATE warp_store SET key_secret = coalesce(key_secret, ?1) RETURNING key_secret = ?1
