//! The rights that a worker needs where somebody else has made the schema.

use std::error::Error;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode};
use warp_storage::conformance::{Harness, Scene};
use warp_storage::model::{End, JobFilter, JobState, Sweep};
use warp_storage::store::async_trait;
use warp_storage::{ManualClock, Postgres, Store};

use crate::on_server::{OnServer, url};

/// What the README says, for a role.
const RIGHTS: &str = "
    GRANT USAGE ON SCHEMA a_schema TO a_role;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA a_schema TO a_role;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA a_schema TO a_role;";

/// The same schema, seen with these rights.
struct Granted {
    harness: OnServer,
    store: Postgres,
}

#[async_trait]
impl Harness for Granted {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn clock(&self) -> &ManualClock {
        &self.harness.clock
    }
}

/// Whoever has them does everything but migrate: enqueues, waits, starts, ends, sweeps, leaves and asks.
#[tokio::test]
async fn a_worker_needs_the_rights_that_are_documented_and_no_more() -> Result<(), Box<dyn Error>> {
    let Some(harness) = OnServer::new().await else {
        return Ok(());
    };
    let role = format!("{}_role", harness.schema);
    let by_hand = async |text: &str| {
        let text = text
            .replace("a_role", &role)
            .replace("a_schema", &harness.schema);
        let mut connection = harness.by_hand.lock().await;
        sqlx::raw_sql(harness.here(&text))
            .execute(&mut *connection)
            .await
    };
    by_hand("CREATE ROLE a_role").await?;
    by_hand(RIGHTS).await?;
    let url = format!("{}?options[role]={role}", url());
    let options = Postgres::options(&url).schema(&harness.schema);
    let options = options.clock(harness.clock.clone()).max_connections(2);
    let refused = Postgres::options(&url)
        .schema("warp_of_nobody")
        .connect()
        .await;
    assert!(refused.is_err(), "it may make no schema");
    let store = options.open().await?;

    let granted = Granted { harness, store };
    let scene = Scene::new(&granted);
    let mut worker = scene.worker(&["a"]).await?;
    let mutex = ExplicitPolicies {
        concurrency: Some(ConcurrencySpec::mutex(Key::new("till")?).with_mode(Mode::Wait)),
        ..ExplicitPolicies::default()
    };
    let first = scene.enqueue("a", mutex.clone()).await?;
    let second = scene.enqueue("a", mutex).await?;
    assert_eq!(worker.start(&scene).await?, [first]);
    assert_eq!(worker.end(&scene, first, End::Succeeded).await?, [second]);
    granted.store.sweep(Sweep { max_lost: 3 }).await?;
    granted.store.heartbeat(worker.id).await?;
    granted.store.drain(worker.id).await?;
    granted.store.deregister(worker.id).await?;
    assert_eq!(scene.state(second).await?, JobState::Enqueued);
    assert_eq!(granted.store.jobs(JobFilter::default()).await?.len(), 2);
    granted.store.log(first).await?;
    granted.store.counters().await?;
    granted.store.close().await;

    let leave = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    let mut connection = granted.harness.by_hand.lock().await;
    sqlx::raw_sql(granted.harness.here(&leave))
        .execute(&mut *connection)
        .await?;
    Ok(())
}
