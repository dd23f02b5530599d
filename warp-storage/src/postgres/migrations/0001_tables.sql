-- Everything that Warp keeps. `warp.` stands for the schema that a store is opened with.
--
-- Instants are microseconds since 1970 (`to_timestamp(place / 1e6)`), durations are microseconds, lists are JSON. Texts that are compared
-- are ordered by their bytes, on every server alike: rows are locked in that order.

-- One row about the schema itself.
CREATE TABLE warp.store (
    only_row boolean PRIMARY KEY CHECK (only_row),
    id text NOT NULL,                 -- tells this schema from any other
    schema integer NOT NULL,          -- the last migration that was applied
    serves_from integer NOT NULL,     -- the oldest program that this schema serves, by its own last migration (R87)
    latest bigint NOT NULL            -- the latest instant that a sweep saw (R66)
);

CREATE TABLE warp.jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text COLLATE "C" NOT NULL CHECK (state IN
        ('scheduled', 'enqueued', 'waiting', 'processing', 'succeeded', 'failed', 'deleted')),
    queue text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    rank bigint NOT NULL,             -- minus its priority, so that every order ascends
    place bigint NOT NULL,            -- when it became, or becomes, ready
    lane bigint,                      -- while it waits
    worker bigint,                    -- while it runs
    claim bigint,                     -- while it runs
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    starts integer NOT NULL DEFAULT 0 CHECK (starts >= 0),  -- also those that count as no attempt
    lost integer NOT NULL DEFAULT 0 CHECK (lost >= 0),
    enqueued_at bigint NOT NULL,
    admitted_at bigint,
    ended_at bigint,
    explicit text NOT NULL,           -- the policies given at enqueue
    stamp text,                       -- the policies it follows, from its first judgement on (R21)
    error text,                       -- why its last attempt failed
    payload text NOT NULL,            -- the contract
    CHECK ((state = 'waiting') = (lane IS NOT NULL)),
    CHECK ((state = 'processing') = (worker IS NOT NULL AND claim IS NOT NULL))
);

-- Every order ends with `id`, and begins with what a read is confined to: no read meets rows that are not its own.
CREATE INDEX jobs_enqueued ON warp.jobs (queue, kind, rank, place, id) WHERE state = 'enqueued';
CREATE INDEX jobs_scheduled ON warp.jobs (queue, kind, place, id) WHERE state = 'scheduled';
CREATE INDEX jobs_waiting ON warp.jobs (lane, rank, place, id) WHERE state = 'waiting';
CREATE INDEX jobs_processing ON warp.jobs (worker, id) WHERE state = 'processing';

-- Claims ascend over the whole schema, and none is given twice. Some may be missing.
CREATE SEQUENCE warp.claims;

-- The slots that running jobs hold, each under the claim that took it. Usage is counted, never kept (R52).
CREATE TABLE warp.slots (
    family text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    job bigint NOT NULL,
    claim bigint NOT NULL,
    PRIMARY KEY (family, key, job)
);

CREATE INDEX slots_by_job ON warp.slots (job);

-- A slot is held exactly while its job runs, whoever writes the row and whatever its stamp says (R52).
CREATE FUNCTION warp.free_slots() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM warp.slots WHERE job = old.id;
    RETURN NULL;
END $$;

CREATE TRIGGER slots_are_freed AFTER UPDATE OF claim ON warp.jobs FOR EACH ROW
WHEN (old.claim IS NOT NULL AND new.claim IS DISTINCT FROM old.claim) EXECUTE FUNCTION warp.free_slots();

-- A lane: the waiting jobs of one queue, kind and key set. These rows never change.
CREATE SEQUENCE warp.lane_ids;

CREATE TABLE warp.lanes (
    id bigint PRIMARY KEY,
    queue text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    keys text COLLATE "C" NOT NULL    -- its key set, sorted
);

-- A key set can be longer than what an index takes.
CREATE UNIQUE INDEX lanes_by_keys ON warp.lanes (queue, kind, md5(keys));

-- Where each lane stands: it sleeps on the key that refused its head (R43). Every version of a row would be checked against a unique
-- index; so there is none, and a row is found by its lane and its exact head.
CREATE TABLE warp.lines (
    lane bigint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    sleep_family text COLLATE "C" NOT NULL,
    sleep_key text COLLATE "C" NOT NULL,
    next_at bigint,                   -- due since or from then on; none if only a change of the key can help
    refusals integer NOT NULL,        -- of its head (R46)
    head_rank bigint NOT NULL,
    head_place bigint NOT NULL,
    head bigint NOT NULL              -- its first job
);

CREATE INDEX lines_by_lane ON warp.lines (lane, head_rank, head_place, head);
CREATE INDEX lines_by_key ON warp.lines (sleep_family, sleep_key, queue, kind, head_rank, head_place, head);
CREATE INDEX lines_due ON warp.lines (queue, kind, next_at, lane) WHERE next_at IS NOT NULL;

-- The keys. These rows are the locks: whoever changes anything of a key holds its row, so there is one for every key in use.
-- A row that changes stays on its page, since only `look_at` is indexed, which seldom changes.
CREATE TABLE warp.limiters (
    family text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    rate text,                        -- its known starts
    elder bigint,                     -- the lane for whose head a slot or token is kept (R46)
    look_at bigint,                   -- when a turn must look at its line although nothing happened
    PRIMARY KEY (family, key)
) WITH (fillfactor = 30);

-- Nor does a slot outlive a row that somebody deletes by hand; who waits for it is looked at.
CREATE FUNCTION warp.free_slots_of_deleted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO warp.limiters (family, key, look_at)
    SELECT family, key, 0 FROM warp.slots WHERE job = old.id ORDER BY family, key
    ON CONFLICT (family, key) DO UPDATE SET look_at = 0;
    DELETE FROM warp.slots WHERE job = old.id;
    RETURN NULL;
END $$;

CREATE TRIGGER slots_go_with_their_job AFTER DELETE ON warp.jobs FOR EACH ROW
WHEN (old.claim IS NOT NULL) EXECUTE FUNCTION warp.free_slots_of_deleted();

CREATE INDEX limiters_look ON warp.limiters (look_at, family, key) WHERE look_at IS NOT NULL;

CREATE TABLE warp.workers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    queues text[] COLLATE "C" NOT NULL,
    kinds text[] COLLATE "C" NOT NULL,
    lease bigint NOT NULL,
    last_seen bigint NOT NULL,
    latest bigint NOT NULL,           -- the latest instant that its turns saw (R66)
    turn bigint NOT NULL,             -- its last committed turn
    draining boolean NOT NULL DEFAULT false
) WITH (fillfactor = 30);

-- What happened to each job (R110).
CREATE TABLE warp.log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job bigint NOT NULL,
    at bigint NOT NULL,
    worker bigint,
    event text NOT NULL,
    counter text COLLATE "C"          -- what it counts as, if anything
);

CREATE INDEX log_by_job ON warp.log (job, id);

-- The number of lines of the log that were ever written of each counter (R112).
CREATE TABLE warp.counters (
    counter text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,             -- since 1970
    worker bigint NOT NULL,           -- 0 for none
    count bigint NOT NULL,
    PRIMARY KEY (counter, hour, worker)
) WITH (fillfactor = 50);
