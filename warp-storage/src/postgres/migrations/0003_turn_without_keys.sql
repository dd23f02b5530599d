-- A turn in which nothing has a policy (R47): the call of this function is its only statement, and its transaction.
--
-- It looks first. Where a key could be concerned, or there is nothing to do, it writes nothing, and answers what it saw as `peek` does:
-- then the turn is taken with locks on keys, or not at all. It never waits for a job: what somebody else is changing is left out.
--
-- A single statement can set nothing for itself, but a function can: as in every other transaction, plans go by indexes alone, whatever
-- statistics say. They are made once in a session.
--
-- $1 worker, $2 now, or none for the database's own, $3 room, $4 how many to read,
-- $5 attempts that ended, [{job, claim, state, after, back, error, event, counter}], $6 the kinds whose jobs have no policy unless one was
-- given with them, [kind], $7 turn
CREATE FUNCTION warp.turn_without_keys(bigint, bigint, bigint, bigint, json, json, bigint) RETURNS json LANGUAGE plpgsql
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    goes_ahead boolean;
    what_is json;
    what_ended json := '{"ended": [], "cancelled": [], "contended": []}';
    what_started json;
    what_is_next json;
BEGIN
    $2 := coalesce($2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);

    -- What would be done, and whether a key is concerned: by a slot, by a job that has a policy, by a lane that comes before the last job
    -- that would start, or by a line that is to be looked at. A worker that was silent for its lease, and a clock that went back, have
    -- lines looked at as well.
    WITH route AS MATERIALIZED (
        SELECT q.queue, k.kind
        FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
        WHERE w.id = $1::bigint AND NOT w.draining
    )
    , seen AS MATERIALIZED (
        SELECT w.lease, w.last_seen, greatest(s.latest, (SELECT max(latest) FROM warp.workers)) AS latest
        FROM warp.store AS s LEFT JOIN LATERAL (SELECT lease, last_seen FROM warp.workers WHERE id = $1::bigint) AS w ON true
    )
    , slot AS MATERIALIZED (
        SELECT s.job, s.family, s.key
        FROM json_to_recordset($5::json) AS e (job bigint) CROSS JOIN LATERAL (
            SELECT job, family, key FROM warp.slots WHERE job = e.job OFFSET 0) AS s
    )
    , ready AS MATERIALIZED (
        SELECT e.id, e.queue, e.kind, e.rank, e.place
        FROM route AS r CROSS JOIN LATERAL (
            (SELECT id, queue, kind, rank, place FROM warp.jobs
             WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind
             ORDER BY queue, kind, rank, place, id LIMIT $4::bigint)
            UNION ALL
            (SELECT id, queue, kind, rank, place FROM warp.jobs
             WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind AND place <= $2::bigint
             ORDER BY queue, kind, place, id LIMIT CASE WHEN $4::bigint > 0 THEN 500 ELSE 0 END)
        ) AS e
    )
    , share AS MATERIALIZED (
        SELECT ($4::bigint - $3::bigint) / greatest(1, count(DISTINCT (queue, kind))) AS size FROM ready
    )
    , numbered AS MATERIALIZED (
        SELECT id, queue, kind, rank, place,
            row_number() OVER (ORDER BY rank, place, id) AS number,
            row_number() OVER (PARTITION BY queue, kind ORDER BY rank, place, id) AS number_in_route
        FROM ready
    )
    , fetched AS MATERIALIZED (
        SELECT n.id, n.rank, n.place FROM numbered AS n CROSS JOIN share AS s
        ORDER BY n.number > $3::bigint AND n.number_in_route > s.size + 1, n.rank, n.place, n.id
        LIMIT $4::bigint
    )
    , candidate AS MATERIALIZED (
        SELECT f.id, f.rank, f.place, j.stamp, j.is_free
        FROM fetched AS f CROSS JOIN LATERAL (
            SELECT stamp, coalesce(stamp = '{"v":1}', explicit = '{}' AND kind IN (
                SELECT k.kind FROM json_array_elements_text($6::json) AS k (kind))) AS is_free
            FROM warp.jobs WHERE id = f.id LIMIT 1) AS j
    )
    , due AS MATERIALIZED (
        SELECT e.head_rank, e.head_place, e.head FROM route AS r CROSS JOIN LATERAL (
            SELECT head_rank, head_place, head FROM warp.lines
            WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL AND next_at <= $2::bigint
            ORDER BY queue, kind, next_at, lane LIMIT CASE WHEN $3::bigint > 0 THEN 500 ELSE 0 END) AS e
        ORDER BY e.head_rank, e.head_place, e.head LIMIT 1
    )
    , verdict AS MATERIALIZED (
        SELECT (json_array_length($5::json) > 0 OR EXISTS (SELECT 1 FROM candidate) OR $2::bigint - s.last_seen >= s.lease / 3)
            AND $2::bigint - s.last_seen < s.lease
            AND $2::bigint + 1000000 >= s.latest
            AND NOT EXISTS (SELECT 1 FROM slot)
            AND NOT EXISTS (SELECT 1 FROM candidate WHERE NOT is_free)
            AND NOT EXISTS (
                SELECT 1 FROM due AS d WHERE $3::bigint > (
                    SELECT count(*) FROM candidate AS c WHERE (c.rank, c.place, c.id) < (d.head_rank, d.head_place, d.head)))
            AND NOT EXISTS (
                SELECT 1 FROM (
                    SELECT look_at FROM warp.limiters WHERE look_at IS NOT NULL ORDER BY look_at, family, key LIMIT 1) AS l
                WHERE l.look_at <= $2::bigint)
            AS suits
        FROM seen AS s WHERE s.lease IS NOT NULL
    )
    SELECT coalesce((SELECT v.suits FROM verdict AS v), false), json_build_object(
        'worker', (SELECT json_build_object('lease', lease, 'last_seen', last_seen) FROM seen WHERE lease IS NOT NULL),
        'latest', (SELECT latest FROM seen),
        'unresolved', CASE WHEN (SELECT v.suits FROM verdict AS v) THEN '[]' ELSE coalesce((
            SELECT json_agg(json_build_object('id', j.id, 'kind', j.kind, 'payload', j.payload, 'explicit', j.explicit))
            FROM candidate AS c CROSS JOIN LATERAL (
                SELECT id, kind, payload, explicit FROM warp.jobs WHERE id = c.id LIMIT 1) AS j
            WHERE c.stamp IS NULL), '[]') END,
        'stamps', coalesce((SELECT json_agg(DISTINCT stamp) FROM candidate WHERE stamp IS NOT NULL), '[]'),
        'held', coalesce((
            SELECT json_agg(json_build_object('job', job, 'key', json_build_object('family', family, 'key', key))) FROM slot), '[]'),
        'cancelled', coalesce((
            SELECT json_agg(id) FROM (
                SELECT id FROM warp.jobs WHERE state = 'processing' AND cancelled_at IS NOT NULL AND worker = $1::bigint
                ORDER BY worker, id) AS j), '[]'))
    INTO goes_ahead, what_is;

    IF goes_ahead THEN
        -- Nobody takes the worker out before this is over.
        PERFORM 1 FROM warp.workers WHERE id = $1::bigint FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN json_build_object('now', $2);
        END IF;
        what_started := '[]';

        IF json_array_length($5) > 0 THEN
            -- Ends the attempts whose claims are held; a cancelled job never becomes ready again.
            WITH mine AS MATERIALIZED (
                SELECT e.*, f.spot
                FROM ROWS FROM (json_to_recordset($5::json) AS (
                    job bigint, claim bigint, state text, after bigint, back integer, error text, event text, counter text))
                    WITH ORDINALITY AS e (job, claim, state, after, back, error, event, counter, number)
                CROSS JOIN LATERAL (SELECT ctid AS spot, claim, worker FROM warp.jobs WHERE id = e.job LIMIT 1) AS f
                WHERE f.claim = e.claim AND f.worker = $1::bigint
            )
            , free AS MATERIALIZED (
                SELECT m.*, m.state IN ('succeeded', 'failed') AS is_over,
                    CASE WHEN m.after IS NOT NULL THEN $2::bigint + least(m.after, 9223372036854775807 - greatest($2::bigint, 0)) END AS place
                FROM mine AS m CROSS JOIN LATERAL (
                    SELECT id FROM warp.jobs WHERE ctid = m.spot FOR NO KEY UPDATE SKIP LOCKED) AS l
            )
            , written AS (
                UPDATE warp.jobs AS j
                SET state = CASE WHEN j.cancelled_at IS NOT NULL AND NOT e.is_over THEN 'deleted' ELSE e.state END,
                    place = CASE WHEN j.cancelled_at IS NULL THEN coalesce(e.place, j.place) ELSE j.place END,
                    attempts = CASE WHEN j.cancelled_at IS NULL THEN greatest(0, j.attempts - e.back) ELSE j.attempts END,
                    error = coalesce(e.error, j.error),
                    ended_at = CASE WHEN j.cancelled_at IS NOT NULL OR e.is_over THEN $2::bigint END,
                    worker = NULL,
                    claim = NULL
                FROM free AS e
                WHERE j.ctid = e.spot
                RETURNING j.id, j.state, j.error, e.place, e.event, e.counter, e.number
            )
            , logged AS (
                INSERT INTO warp.log (job, at, worker, event, counter)
                SELECT id, $2::bigint, $1::bigint,
                    CASE WHEN state = 'deleted' THEN '"cancelled"'
                        ELSE coalesce(event, json_build_object('retried', json_build_object('error', error, 'place', place))::text) END,
                    CASE WHEN state = 'deleted' THEN 'deleted-cancelled' ELSE counter END
                FROM written ORDER BY number
                RETURNING counter
            )
            , counted AS (
                INSERT INTO warp.counters (counter, hour, worker, count)
                SELECT counter, ($2::bigint - ($2::bigint % 3600000000 + 3600000000) % 3600000000) / 3600000000, $1::bigint, count(*)
                FROM logged WHERE counter IS NOT NULL GROUP BY counter ORDER BY counter
                ON CONFLICT (counter, hour, worker) DO UPDATE SET count = counters.count + excluded.count
            )
            SELECT json_build_object(
                'ended', coalesce((SELECT json_agg(id) FROM written WHERE state <> 'deleted'), '[]'),
                'cancelled', coalesce((SELECT json_agg(id) FROM written WHERE state = 'deleted'), '[]'),
                'contended', coalesce((
                    SELECT json_agg(m.job) FROM mine AS m WHERE NOT EXISTS (SELECT 1 FROM written AS w WHERE w.id = m.job)), '[]'))
            INTO what_ended;
        END IF;

        IF $3 > 0 THEN
            -- What is ready is written down to be so (R66).
            UPDATE warp.jobs AS j SET state = 'enqueued'
            FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
            CROSS JOIN LATERAL (
                SELECT ctid AS spot FROM warp.jobs
                WHERE state = 'scheduled' AND queue = q.queue AND kind = k.kind AND place <= $2::bigint
                ORDER BY queue, kind, place, id LIMIT 1000
                FOR UPDATE SKIP LOCKED) AS s
            WHERE w.id = $1::bigint AND NOT w.draining AND j.ctid = s.spot;

            -- Starts jobs in their order, up to the first lane that is due and the first job that has a policy: either may have come up
            -- since the look. Where another turn has some of the jobs, the next ones of their routes are taken instead.
            WITH route AS MATERIALIZED (
                SELECT q.queue, k.kind
                FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
                WHERE w.id = $1::bigint AND NOT w.draining
            )
            , bound AS MATERIALIZED (
                SELECT rank, place, id FROM (
                    SELECT e.rank, e.place, e.id FROM route AS r CROSS JOIN LATERAL (
                        SELECT head_rank AS rank, head_place AS place, head AS id FROM warp.lines
                        WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL AND next_at <= $2::bigint
                        ORDER BY queue, kind, next_at, lane LIMIT 500) AS e
                    UNION ALL
                    SELECT 9223372036854775807, 9223372036854775807, 9223372036854775807) AS b
                ORDER BY rank, place, id LIMIT 1
            )
            , fetched AS MATERIALIZED (
                SELECT e.id, e.queue, e.kind, e.rank, e.place
                FROM bound AS b CROSS JOIN route AS r CROSS JOIN LATERAL (
                    SELECT id, queue, kind, rank, place FROM warp.jobs
                    WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind AND (rank, place, id) < (b.rank, b.place, b.id)
                    ORDER BY queue, kind, rank, place, id LIMIT $3::bigint) AS e
                ORDER BY e.rank, e.place, e.id LIMIT $3::bigint
            )
            , counted AS MATERIALIZED (
                SELECT queue, kind, count(*) AS number, (array_agg(rank ORDER BY rank, place, id))[1] AS rank,
                    (array_agg(place ORDER BY rank, place, id))[1] AS place, (array_agg(id ORDER BY rank, place, id))[1] AS id
                FROM fetched GROUP BY queue, kind
            )
            , taken AS MATERIALIZED (
                SELECT j.* FROM bound AS b CROSS JOIN counted AS c CROSS JOIN LATERAL (
                    SELECT id, rank, place, ctid AS spot, coalesce(stamp = '{"v":1}', explicit = '{}' AND kind IN (
                        SELECT k.kind FROM json_array_elements_text($6::json) AS k (kind))) AS is_free
                    FROM warp.jobs
                    WHERE state = 'enqueued' AND queue = c.queue AND kind = c.kind
                      AND (rank, place, id) >= (c.rank, c.place, c.id) AND (rank, place, id) < (b.rank, b.place, b.id)
                    ORDER BY queue, kind, rank, place, id LIMIT c.number
                    FOR UPDATE SKIP LOCKED) AS j
            )
            , starting AS MATERIALIZED (
                SELECT t.spot, nextval('warp.claims') AS claim FROM (
                    SELECT spot FROM (
                        SELECT spot, rank, place, id, bool_and(is_free) OVER (ORDER BY rank, place, id) AS is_free FROM taken) AS j
                    WHERE is_free ORDER BY rank, place, id OFFSET 0) AS t
            )
            , written AS (
                UPDATE warp.jobs AS j
                SET state = 'processing',
                    worker = $1::bigint,
                    claim = s.claim,
                    attempts = j.attempts + 1,
                    starts = j.starts + 1,
                    admitted_at = $2::bigint,
                    stamp = coalesce(j.stamp, '{"v":1}')
                FROM starting AS s WHERE j.ctid = s.spot
                RETURNING j.id, j.claim, j.kind, j.queue, j.payload, j.attempts
            )
            , logged AS (
                INSERT INTO warp.log (job, at, worker, event)
                SELECT id, $2::bigint, $1::bigint,
                    json_build_object('started', json_build_object('attempt', attempts, 'claim', claim))::text
                FROM written ORDER BY id
            )
            SELECT coalesce(json_agg(json_build_object(
                'job', id, 'claim', claim, 'kind', kind, 'queue', queue, 'payload', payload, 'attempt', attempts, 'admitted_at', $2::bigint)
                ORDER BY claim), '[]')
            FROM written
            INTO what_started;
        END IF;
    END IF;

    -- What is next. The others are read where there may be somebody to tell of lanes that this worker has no room for.
    WITH route AS MATERIALIZED (
        SELECT q.queue, k.kind
        FROM warp.workers AS w CROSS JOIN LATERAL unnest(w.queues) AS q (queue) CROSS JOIN LATERAL unnest(w.kinds) AS k (kind)
        WHERE w.id = $1::bigint AND NOT w.draining
    )
    , lane AS MATERIALIZED (
        SELECT r.queue, r.kind, l.next_at FROM route AS r CROSS JOIN LATERAL (
            SELECT next_at FROM warp.lines WHERE queue = r.queue AND kind = r.kind AND next_at IS NOT NULL
            ORDER BY queue, kind, next_at, lane LIMIT 1) AS l
    )
    SELECT json_build_object(
        'agenda', json_build_object(
            'ready', EXISTS (
                SELECT 1 FROM route AS r CROSS JOIN LATERAL (
                    SELECT 1 FROM warp.jobs WHERE state = 'enqueued' AND queue = r.queue AND kind = r.kind
                    ORDER BY queue, kind, rank, place, id LIMIT 1) AS j),
            'scheduled', (
                SELECT min(j.place) FROM route AS r CROSS JOIN LATERAL (
                    SELECT place FROM warp.jobs WHERE state = 'scheduled' AND queue = r.queue AND kind = r.kind
                    ORDER BY queue, kind, place, id LIMIT 1) AS j),
            'look_at', (SELECT look_at FROM warp.limiters WHERE look_at IS NOT NULL ORDER BY look_at, family, key LIMIT 1),
            'lanes', coalesce((
                SELECT json_agg(json_build_object('route', json_build_object('queue', queue, 'kind', kind), 'next_at', next_at))
                FROM lane), '[]')),
        'presence', CASE WHEN json_array_length(what_started) = $3::bigint AND EXISTS (SELECT 1 FROM lane) THEN json_build_object(
            'workers', (
                SELECT json_agg(json_build_object(
                    'id', id, 'queues', to_json(queues), 'kinds', to_json(kinds),
                    'lease', lease, 'last_seen', last_seen, 'draining', draining))
                FROM warp.workers),
            'latest', $2::bigint) END)
    INTO what_is_next;

    IF NOT goes_ahead THEN
        RETURN json_build_object('now', $2, 'peek', json_build_object(
            'worker', what_is -> 'worker', 'latest', what_is -> 'latest', 'unresolved', what_is -> 'unresolved',
            'stamps', what_is -> 'stamps', 'held', what_is -> 'held', 'cancelled', what_is -> 'cancelled',
            'agenda', what_is_next -> 'agenda'));
    END IF;

    -- By this the worker also says that it is alive. A heartbeat has to wait from here on.
    UPDATE warp.workers SET last_seen = $2::bigint, latest = greatest(latest, $2::bigint), turn = greatest(turn, $7::bigint)
    WHERE id = $1::bigint;
    RETURN json_build_object('now', $2, 'taken', json_build_object(
        'written', what_ended, 'started', what_started, 'cancelled', what_is -> 'cancelled',
        'agenda', what_is_next -> 'agenda', 'presence', what_is_next -> 'presence'));
END $$;
