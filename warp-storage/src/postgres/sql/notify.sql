-- Tells whoever listens. $1 the channel, $2 who says it
SELECT pg_notify($1, $2)
