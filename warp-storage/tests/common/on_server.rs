//! PostgreSQL, as the tests of this crate take it: a fresh schema for each, and a hand on its rows.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a hand that finds no server is a failed test"
)]

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use tokio::sync::{Mutex, OnceCell, OwnedSemaphorePermit, Semaphore};
use warp_policy::ids::JobId;
use warp_storage::conformance::{DAWN, Harness, Outcome};
use warp_storage::postgres::PostgresOptions;
use warp_storage::store::async_trait;
use warp_storage::{ManualClock, Postgres, Store};

/// How many schemas are open at once: a server has a hundred connections by default, and other test programs run beside this one.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(6)));

/// A store in a schema of its own, on a clock that stands at [`DAWN`].
pub(crate) struct OnServer {
    pub(crate) postgres: Postgres,
    pub(crate) clock: ManualClock,
    /// A connection of somebody else's.
    pub(crate) by_hand: Mutex<PgConnection>,
    pub(crate) schema: String,
    _place: OwnedSemaphorePermit,
}

/// What is counted of the writes, by the server itself.
const COUNTERS: &str = "
    CREATE TABLE warp.job_writes (job bigint PRIMARY KEY, writes integer NOT NULL);
    CREATE FUNCTION warp.count_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO warp.job_writes AS w VALUES (new.id, 1) ON CONFLICT (job) DO UPDATE SET writes = w.writes + 1;
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_jobs AFTER INSERT OR UPDATE ON warp.jobs FOR EACH ROW EXECUTE FUNCTION warp.count_job();
    CREATE SEQUENCE warp.limiter_writes MINVALUE 0 START 0;
    CREATE FUNCTION warp.count_limiter() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('warp.limiter_writes');
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_limiters AFTER INSERT OR UPDATE ON warp.limiters FOR EACH ROW EXECUTE FUNCTION warp.count_limiter();
    CREATE TRIGGER count_slots AFTER INSERT ON warp.slots FOR EACH ROW EXECUTE FUNCTION warp.count_limiter();";

/// What must never be found in the schema, each with the question that finds it.
const NEVER: &[(&str, &str)] = &[
    (
        "a slot without its running job",
        "SELECT count(*) FROM warp.slots s WHERE NOT EXISTS (
             SELECT 1 FROM warp.jobs j WHERE j.id = s.job AND j.claim = s.claim AND j.state = 'processing')",
    ),
    (
        "a running job without worker or claim, or another one with either",
        "SELECT count(*) FROM warp.jobs
         WHERE (state = 'processing') <> (worker IS NOT NULL) OR (state = 'processing') <> (claim IS NOT NULL)",
    ),
    (
        "a running job whose worker is not registered",
        "SELECT count(*) FROM warp.jobs j
         WHERE state = 'processing' AND NOT EXISTS (SELECT 1 FROM warp.workers w WHERE w.id = j.worker)",
    ),
    (
        "a waiting job without its lane, or another one in a lane",
        "SELECT count(*) FROM warp.jobs j WHERE (state = 'waiting') <> EXISTS (
             SELECT 1 FROM warp.lanes l WHERE l.id = j.lane AND l.queue = j.queue AND l.kind = j.kind)",
    ),
    (
        "a lane that does not stand in one line",
        "SELECT count(*) FROM warp.lanes l WHERE (
             SELECT count(*) FROM warp.lines i WHERE i.lane = l.id AND i.queue = l.queue AND i.kind = l.kind) <> 1",
    ),
    (
        "a place in a line without its lane",
        "SELECT count(*) FROM warp.lines i WHERE NOT EXISTS (SELECT 1 FROM warp.lanes l WHERE l.id = i.lane)",
    ),
    (
        "a lane whose head is not its first job",
        "SELECT count(*) FROM warp.lines l WHERE (head_rank, head_place, head) IS DISTINCT FROM (
             SELECT (rank, place, id) FROM warp.jobs j
             WHERE j.lane = l.lane AND j.state = 'waiting' ORDER BY rank, place, id LIMIT 1)",
    ),
    (
        "a lane that sleeps on a key which is not its own",
        "SELECT count(*) FROM warp.lines i JOIN warp.lanes l ON l.id = i.lane WHERE NOT EXISTS (
             SELECT 1 FROM json_to_recordset(l.keys::json) AS k (family text, key text)
             WHERE k.family = i.sleep_family AND k.key = i.sleep_key)",
    ),
    (
        "a slot, or a key with a line, without a limiter",
        "SELECT count(*) FROM (
             SELECT family, key FROM warp.slots UNION SELECT sleep_family, sleep_key FROM warp.lines) AS k
         WHERE NOT EXISTS (SELECT 1 FROM warp.limiters m WHERE m.family = k.family AND m.key = k.key)",
    ),
    (
        "an ended job without its instant, or another one with it",
        "SELECT count(*) FROM warp.jobs
         WHERE (state IN ('succeeded', 'failed', 'deleted')) <> (ended_at IS NOT NULL)",
    ),
    (
        "a counter that is not the number of its lines",
        "SELECT count(*) FROM (SELECT counter, sum(count) n FROM warp.counters GROUP BY counter) c
         WHERE n <> (SELECT count(*) FROM warp.log l WHERE l.counter = c.counter)",
    ),
];

/// The URL of the server.
pub(crate) fn url() -> String {
    std::env::var("WARP_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

/// Whether there is a server. Where there is none, a test says so and passes; with `WARP_TEST_REQUIRE_SERVICES=1` it fails.
pub(crate) async fn has_server() -> bool {
    static HAS_SERVER: OnceCell<bool> = OnceCell::const_new();
    let look = async || {
        let options: PgConnectOptions = url().parse().expect("a URL");
        match options.connect().await {
            Ok(_) => true,
            Err(error) if std::env::var_os("WARP_TEST_REQUIRE_SERVICES").is_some() => {
                panic!("there is no PostgreSQL server: {error}")
            }
            Err(error) => {
                eprintln!("skipped: there is no PostgreSQL server: {error}");
                false
            }
        }
    };
    *HAS_SERVER.get_or_init(look).await
}

/// A connection of nobody's.
pub(crate) async fn connection() -> PgConnection {
    let options: PgConnectOptions = url().parse().expect("a URL");
    options
        .disable_statement_logging()
        .connect()
        .await
        .expect("the server is there")
}

/// How a store is opened. Nothing but what happens in it is announced, and since no test pulls the plug of the server, none waits for
/// its disk.
fn open(schema: &str, clock: &ManualClock, settings: &[(&str, &str)]) -> PostgresOptions {
    let url = url();
    let separator = if url.contains('?') { '&' } else { '?' };
    let mut url = format!("{url}{separator}options[synchronous_commit]=off");
    for (name, value) in settings {
        let value = value.replace(' ', "%20");
        write!(url, "&options[{name}]={value}").expect("it is only a text");
    }
    Postgres::options(&url)
        .schema(schema)
        .max_connections(5)
        .patience(Duration::from_secs(60))
        .looks_every(Duration::from_hours(1))
        .notifications(false)
        .clock(clock.clone())
}

/// A name that no other test has.
pub(crate) fn schema_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("warp_test_{}_{number}", std::process::id())
}

impl OnServer {
    /// A fresh store; `None` where there is no server.
    pub(crate) async fn new() -> Option<Self> {
        Self::with(&[]).await
    }

    /// A fresh store on sessions with these settings.
    pub(crate) async fn with(settings: &[(&str, &str)]) -> Option<Self> {
        if !has_server().await {
            return None;
        }
        let place = Arc::clone(&PLACES).acquire_owned().await;
        let place = place.expect("nobody closes it");
        let (clock, schema) = (ManualClock::new(DAWN), schema_name());
        let opened = open(&schema, &clock, settings).connect().await;
        let postgres = opened.expect("a schema");
        let mut by_hand = connection().await;
        let counters = COUNTERS.replace("warp.", &format!("{schema}."));
        sqlx::raw_sql(AssertSqlSafe(counters))
            .execute(&mut by_hand)
            .await
            .expect("the counters");
        Some(Self {
            postgres,
            clock,
            by_hand: Mutex::new(by_hand),
            schema,
            _place: place,
        })
    }

    /// A text in which `warp.` stands for the schema.
    pub(crate) fn here(&self, text: &str) -> AssertSqlSafe<String> {
        AssertSqlSafe(text.replace("warp.", &format!("{}.", self.schema)))
    }

    pub(crate) async fn ask(&self, question: &str) -> i64 {
        let mut connection = self.by_hand.lock().await;
        sqlx::query_scalar(self.here(question))
            .fetch_one(&mut *connection)
            .await
            .expect("an answer")
    }
}

impl Drop for OnServer {
    /// The schema goes with its test. Dropping is not `async`: another thread does it.
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.schema);
        let dropping = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().expect("a runtime");
            let dropped = async {
                let mut connection = connection().await;
                // Whoever still holds something of a failed test ends with it.
                let statement = format!("SET lock_timeout = '5s'; {drop}");
                sqlx::raw_sql(AssertSqlSafe(statement))
                    .execute(&mut connection)
                    .await
            };
            let dropped = runtime.block_on(dropped);
            if let Err(error) = dropped {
                eprintln!("the schema stays: {error}");
            }
        });
        dropping.join().expect("it only drops");
    }
}

#[async_trait]
impl Harness for OnServer {
    fn store(&self) -> &dyn Store {
        &self.postgres
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn job_writes(&self, job: JobId) -> Option<u32> {
        let statement = self.here("SELECT writes FROM warp.job_writes WHERE job = $1");
        let writes: Option<i32> = sqlx::query_scalar(statement)
            .bind(job.get())
            .fetch_optional(&mut *self.by_hand.lock().await)
            .await
            .expect("an answer");
        writes.map(i32::unsigned_abs)
    }

    async fn limiter_writes(&self) -> Option<u64> {
        let writes = self.ask("SELECT last_value FROM warp.limiter_writes").await;
        Some(writes.unsigned_abs())
    }

    async fn overwrite_stamp(&self, job: JobId, text: &str) -> Option<()> {
        let statement = self.here("UPDATE warp.jobs SET stamp = $1 WHERE id = $2");
        sqlx::query(statement)
            .bind(text.to_owned())
            .bind(job.get())
            .execute(&mut *self.by_hand.lock().await)
            .await
            .expect("a damaged row");
        Some(())
    }

    async fn refuse_success_of(&self, job: JobId) -> Option<()> {
        let trigger = format!(
            "CREATE FUNCTION warp.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
             CREATE TRIGGER no_success BEFORE UPDATE ON warp.jobs FOR EACH ROW
             WHEN (new.id = {job} AND new.state = 'succeeded') EXECUTE FUNCTION warp.no()"
        );
        sqlx::raw_sql(self.here(&trigger))
            .execute(&mut *self.by_hand.lock().await)
            .await
            .expect("a trigger");
        Some(())
    }

    async fn lose_wake_ups(&self) -> Option<()> {
        sqlx::query(self.here("UPDATE warp.lines SET next_at = NULL"))
            .execute(&mut *self.by_hand.lock().await)
            .await
            .expect("lanes asleep");
        Some(())
    }

    async fn audit(&self) -> Outcome {
        for (what, question) in NEVER {
            let number = self.ask(question).await;
            if number > 0 {
                return Err(format!("{number} times there is {what}").into());
            }
        }
        Ok(())
    }

    async fn judgements(&self) -> Option<u64> {
        let statistics = self.postgres.statistics();
        Some(statistics.candidates + statistics.lanes)
    }
}
