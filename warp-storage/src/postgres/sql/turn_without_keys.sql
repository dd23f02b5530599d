-- A whole turn, where no key is concerned; else what `peek` answers. Described where it is made, in `migrations/0003_turn_without_keys.sql`.
-- $1 worker, $2 now, $3 room, $4 how many to read, $5 attempts that ended, $6 kinds that declare no policy, $7 turn
SELECT warp.turn_without_keys($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::json, $6::json, $7::bigint)
