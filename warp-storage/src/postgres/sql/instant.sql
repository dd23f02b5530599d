-- The instant: one that was given, or the database's.
-- $1 now
WITH moment AS MATERIALIZED (
    SELECT coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
)
