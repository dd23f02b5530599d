    -- $1 after this id, $3 state, $4 kind, $5 queue, $6 how many
    WHERE j.id > $1::bigint
      AND ($3::text IS NULL OR $3::text = CASE WHEN j.state = 'scheduled' AND j.place <= m.now THEN 'enqueued' ELSE j.state END)
      AND ($4::text IS NULL OR j.kind = $4::text)
      AND ($5::text IS NULL OR j.queue = $5::text)
    ORDER BY j.id LIMIT $6::bigint
