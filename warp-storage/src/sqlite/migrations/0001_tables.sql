-- Everything that Warp keeps. All names begin with `warp_`, so that the file can be the application's own.
--
-- Instants are microseconds since 1970 (`datetime(place / 1000000, 'unixepoch')`), durations are microseconds, lists are JSON.

-- One row about the file itself.
CREATE TABLE warp_store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id TEXT NOT NULL,                 -- tells this file from any other
    schema INTEGER NOT NULL,          -- the last migration that was applied
    serves_from INTEGER NOT NULL,     -- the oldest program that this schema serves, by its own last migration (R87)
    latest INTEGER NOT NULL           -- the latest instant that a sweep saw (R66)
) STRICT;

CREATE TABLE warp_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL CHECK (state IN
        ('scheduled', 'enqueued', 'waiting', 'processing', 'succeeded', 'failed', 'deleted')),
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    rank INTEGER NOT NULL,            -- minus its priority, so that every order ascends
    place INTEGER NOT NULL,           -- when it became, or becomes, ready
    lane INTEGER,                     -- while it waits
    worker INTEGER,                   -- while it runs
    claim INTEGER,                    -- while it runs: the number of the line of the log that tells of its start
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    starts INTEGER NOT NULL DEFAULT 0 CHECK (starts BETWEEN 0 AND 4294967295),  -- also those that count as no attempt
    lost INTEGER NOT NULL DEFAULT 0 CHECK (lost BETWEEN 0 AND 4294967295),
    enqueued_at INTEGER NOT NULL,
    admitted_at INTEGER,
    ended_at INTEGER,
    explicit TEXT NOT NULL,           -- the policies given at enqueue
    stamp TEXT,                       -- the policies it follows, from its first judgement on (R21)
    error TEXT,                       -- why its last attempt failed
    payload TEXT NOT NULL,            -- the contract
    CHECK ((state = 'waiting') = (lane IS NOT NULL)),
    CHECK ((state = 'processing') = (worker IS NOT NULL AND claim IS NOT NULL))
) STRICT;

-- Every order ends with `id`, and begins with what a read is confined to: no read meets rows that are not its own.
CREATE INDEX warp_jobs_enqueued ON warp_jobs (queue, kind, rank, place, id) WHERE state = 'enqueued';
CREATE INDEX warp_jobs_scheduled ON warp_jobs (queue, kind, place, id) WHERE state = 'scheduled';
CREATE INDEX warp_jobs_waiting ON warp_jobs (lane, rank, place, id) WHERE state = 'waiting';
CREATE INDEX warp_jobs_processing ON warp_jobs (worker, id) WHERE state = 'processing';

-- The slots that running jobs hold. Usage is counted, never kept (R52).
CREATE TABLE warp_slots (
    family TEXT NOT NULL,
    key TEXT NOT NULL,
    job INTEGER NOT NULL,
    PRIMARY KEY (family, key, job)
) STRICT, WITHOUT ROWID;

CREATE INDEX warp_slots_by_job ON warp_slots (job);

-- A slot is held exactly while its job runs, whoever writes the row and whatever its stamp says (R52).
CREATE TRIGGER warp_slots_are_freed AFTER UPDATE OF claim ON warp_jobs
WHEN old.claim IS NOT NULL AND new.claim IS NOT old.claim
BEGIN
    DELETE FROM warp_slots WHERE job = old.id;
END;

-- Nor does it outlive a row that somebody deletes by hand; who waits for it is looked at.
CREATE TRIGGER warp_slots_go_with_their_job AFTER DELETE ON warp_jobs
BEGIN
    INSERT INTO warp_limiters (family, key, look_at)
    SELECT family, key, 0 FROM warp_slots WHERE job = old.id
    ON CONFLICT DO UPDATE SET look_at = 0;
    DELETE FROM warp_slots WHERE job = old.id;
END;

-- The waiting jobs of one queue, kind and key set. A lane sleeps on the key that refused its head (R43).
CREATE TABLE warp_lanes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    kind TEXT NOT NULL,
    keys TEXT NOT NULL CHECK (json_valid(keys)), -- its key set, sorted
    sleep_family TEXT NOT NULL,
    sleep_key TEXT NOT NULL,
    next_at INTEGER,                  -- due since or from then on; none if only a change of the key can help
    refusals INTEGER NOT NULL,        -- of its head (R46)
    head_rank INTEGER NOT NULL,
    head_place INTEGER NOT NULL,
    head INTEGER NOT NULL,            -- its first job
    UNIQUE (queue, kind, keys)
) STRICT;

CREATE INDEX warp_lanes_line ON warp_lanes (sleep_family, sleep_key, queue, kind, head_rank, head_place, head);
CREATE INDEX warp_lanes_due ON warp_lanes (queue, kind, next_at, id) WHERE next_at IS NOT NULL;

-- What is remembered of a key. A key without a row has nothing to remember.
CREATE TABLE warp_limiters (
    family TEXT NOT NULL,
    key TEXT NOT NULL,
    rate TEXT,                        -- its known starts
    elder INTEGER,                    -- the lane for whose head a slot or token is kept (R46)
    look_at INTEGER,                  -- when a turn must look at its line although nothing happened
    PRIMARY KEY (family, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX warp_limiters_look ON warp_limiters (look_at, family, key) WHERE look_at IS NOT NULL;

CREATE TABLE warp_workers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    process TEXT NOT NULL,            -- the opened store that it belongs to
    queues TEXT NOT NULL CHECK (json_valid(queues)),
    kinds TEXT NOT NULL CHECK (json_valid(kinds)),
    lease INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    latest INTEGER NOT NULL,          -- the latest instant that its turns saw (R66)
    turn INTEGER NOT NULL,            -- its last committed turn
    draining INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What happened to each job (R110). The number of a start's line is the claim: ascending over the whole file, never given twice.
CREATE TABLE warp_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER NOT NULL,
    at INTEGER NOT NULL,
    worker INTEGER,
    event TEXT NOT NULL,
    counter TEXT                      -- what it counts as, if anything
) STRICT;

CREATE INDEX warp_log_by_job ON warp_log (job, id);

CREATE TABLE warp_counters (
    counter TEXT NOT NULL,
    hour INTEGER NOT NULL,            -- since 1970
    worker INTEGER NOT NULL,          -- 0 for none
    count INTEGER NOT NULL,
    PRIMARY KEY (counter, hour, worker)
) STRICT, WITHOUT ROWID;

-- A counter is the number of lines that were ever written of it, so that the two cannot disagree (R112).
CREATE TRIGGER warp_counters_count AFTER INSERT ON warp_log
WHEN new.counter IS NOT NULL
BEGIN
    INSERT INTO warp_counters (counter, hour, worker, count)
    VALUES (new.counter, (new.at - (new.at % 3600000000 + 3600000000) % 3600000000) / 3600000000, coalesce(new.worker, 0), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
