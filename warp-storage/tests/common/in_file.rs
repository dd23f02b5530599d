//! SQLite, as the tests of this crate take it: a fresh file for each, and a hand on its rows.
#![expect(
    clippy::expect_used,
    reason = "a hand that finds no file is a failed test"
)]

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::Mutex;
use warp_policy::ids::JobId;
use warp_storage::conformance::{DAWN, Harness, Outcome};
use warp_storage::sqlite::Synchronous;
use warp_storage::store::async_trait;
use warp_storage::{ManualClock, Sqlite, Store};

/// A store in a file of its own, on a clock that stands at [`DAWN`].
pub(crate) struct InFile {
    pub(crate) sqlite: Sqlite,
    pub(crate) clock: ManualClock,
    /// A connection of somebody else's.
    pub(crate) by_hand: Mutex<SqliteConnection>,
    _folder: TempDir,
}

/// What is counted of the writes, by the file itself.
const COUNTERS: &str = "
    CREATE TABLE job_writes (job INTEGER PRIMARY KEY, writes INTEGER NOT NULL);
    CREATE TRIGGER count_inserted_jobs AFTER INSERT ON warp_jobs
    BEGIN INSERT INTO job_writes VALUES (new.id, 1); END;
    CREATE TRIGGER count_updated_jobs AFTER UPDATE ON warp_jobs
    BEGIN UPDATE job_writes SET writes = writes + 1 WHERE job = new.id; END;
    CREATE TABLE limiter_writes (writes INTEGER NOT NULL);
    INSERT INTO limiter_writes VALUES (0);
    CREATE TRIGGER count_inserted_limiters AFTER INSERT ON warp_limiters
    BEGIN UPDATE limiter_writes SET writes = writes + 1; END;
    CREATE TRIGGER count_updated_limiters AFTER UPDATE ON warp_limiters
    BEGIN UPDATE limiter_writes SET writes = writes + 1; END;
    CREATE TRIGGER count_inserted_slots AFTER INSERT ON warp_slots
    BEGIN UPDATE limiter_writes SET writes = writes + 1; END;";

/// What must never be found in the file, each with the question that finds it.
const NEVER: &[(&str, &str)] = &[
    (
        "a slot without a running job",
        "SELECT count(*) FROM warp_slots s
         WHERE NOT EXISTS (SELECT 1 FROM warp_jobs j WHERE j.id = s.job AND j.state = 'processing')",
    ),
    (
        "a running job without worker or claim, or another one with either",
        "SELECT count(*) FROM warp_jobs
         WHERE (state = 'processing') <> (worker IS NOT NULL) OR (state = 'processing') <> (claim IS NOT NULL)",
    ),
    (
        "a running job whose worker is not registered",
        "SELECT count(*) FROM warp_jobs j
         WHERE state = 'processing' AND NOT EXISTS (SELECT 1 FROM warp_workers w WHERE w.id = j.worker)",
    ),
    (
        "a waiting job without its lane, or another one in a lane",
        "SELECT count(*) FROM warp_jobs j WHERE (state = 'waiting') <> EXISTS (
             SELECT 1 FROM warp_lanes l WHERE l.id = j.lane AND l.queue = j.queue AND l.kind = j.kind)",
    ),
    (
        "a lane whose head is not its first job",
        "SELECT count(*) FROM warp_lanes l WHERE (head_rank, head_place, head) IS NOT (
             SELECT rank, place, id FROM warp_jobs j
             WHERE j.lane = l.id AND j.state = 'waiting' ORDER BY rank, place, id LIMIT 1)",
    ),
    (
        "a lane that sleeps on a key which is not its own",
        "SELECT count(*) FROM warp_lanes l WHERE NOT EXISTS (
             SELECT 1 FROM json_each(l.keys) k
             WHERE k.value ->> 'family' = l.sleep_family AND k.value ->> 'key' = l.sleep_key)",
    ),
    (
        "an ended job without its instant, or another one with it",
        "SELECT count(*) FROM warp_jobs
         WHERE (state IN ('succeeded', 'failed', 'deleted')) <> (ended_at IS NOT NULL)",
    ),
    (
        "a counter that is not the number of its lines",
        "SELECT count(*) FROM (SELECT counter, sum(count) n FROM warp_counters GROUP BY counter) c
         WHERE n <> (SELECT count(*) FROM warp_log l WHERE l.counter = c.counter)",
    ),
];

impl InFile {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let clock = ManualClock::new(DAWN);
        let file = folder.path().join("jobs.db");
        let open = async || {
            let options = Sqlite::options(&file).clock(clock.clone());
            options
                .synchronous(Synchronous::Normal)
                .open()
                .await
                .expect("a file")
        };
        open().await.close().await.expect("a close");
        let by_hand = SqliteConnectOptions::new().filename(&file).connect().await;
        let mut by_hand = by_hand.expect("the file is there");
        sqlx::raw_sql(COUNTERS)
            .execute(&mut by_hand)
            .await
            .expect("the counters");
        Self {
            sqlite: open().await,
            clock,
            by_hand: Mutex::new(by_hand),
            _folder: folder,
        }
    }

    pub(crate) async fn ask(&self, question: &'static str) -> i64 {
        let mut connection = self.by_hand.lock().await;
        sqlx::query_scalar(question)
            .fetch_one(&mut *connection)
            .await
            .expect("an answer")
    }
}

#[async_trait]
impl Harness for InFile {
    fn store(&self) -> &dyn Store {
        &self.sqlite
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    async fn job_writes(&self, job: JobId) -> Option<u32> {
        let statement =
            sqlx::query_scalar("SELECT writes FROM job_writes WHERE job = ?1").bind(job.get());
        statement
            .fetch_optional(&mut *self.by_hand.lock().await)
            .await
            .expect("an answer")
    }

    async fn limiter_writes(&self) -> Option<u64> {
        Some(
            self.ask("SELECT writes FROM limiter_writes")
                .await
                .unsigned_abs(),
        )
    }

    async fn overwrite_stamp(&self, job: JobId, text: &str) -> Option<()> {
        let statement = sqlx::query("UPDATE warp_jobs SET stamp = ?1 WHERE id = ?2")
            .bind(text.to_owned())
            .bind(job.get());
        statement
            .execute(&mut *self.by_hand.lock().await)
            .await
            .expect("a damaged row");
        Some(())
    }

    async fn refuse_success_of(&self, job: JobId) -> Option<()> {
        let trigger = format!(
            "CREATE TRIGGER no_success BEFORE UPDATE ON warp_jobs WHEN new.id = {job} AND new.state = 'succeeded'
             BEGIN SELECT RAISE(ABORT, 'no'); END"
        );
        sqlx::raw_sql(AssertSqlSafe(trigger))
            .execute(&mut *self.by_hand.lock().await)
            .await
            .expect("a trigger");
        Some(())
    }

    async fn lose_wake_ups(&self) -> Option<()> {
        let statement = sqlx::query("UPDATE warp_lanes SET next_at = NULL");
        statement
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
        let statistics = self.sqlite.statistics();
        Some(statistics.candidates + statistics.lanes)
    }
}
