-- Something that moves with every job and every decision.
SELECT last_value FROM warp.log_id_seq
