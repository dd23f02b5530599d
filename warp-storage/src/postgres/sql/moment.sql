-- The instant: one that was given, or the database's.
-- $2 now
, moment AS MATERIALIZED (
    SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
)
