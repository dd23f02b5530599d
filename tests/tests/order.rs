//! Queues, priorities, schedules, shutdown.

use std::time::Duration;

use warp_runtime::prelude::*;
use warp_runtime::storage::model::JobState;
use warp_tests::{Witness, World, seconds, start};

struct Runner(Witness);

#[derive(Debug, Serialize, Deserialize, Job)]
struct Task {
    name: String,
    seconds: u64,
}

impl JobHandler<Task> for Runner {
    async fn handle(&self, job: Task, ctx: &JobContext) -> JobResult {
        self.0
            .work(job.name, ctx, Duration::from_secs(job.seconds))
            .await;
        Ok(())
    }
}

fn task(name: impl Into<String>, seconds: u64) -> Task {
    Task {
        name: name.into(),
        seconds,
    }
}

/// R43: priority first, then the instant at which the job became ready, then id.
#[tokio::test(start_paused = true)]
async fn higher_priorities_go_first_and_older_places_within_one() {
    let world = World::new();
    let enqueue = async |name: &str, parameters| {
        world
            .publisher
            .enqueue_with(task(name, 1), parameters)
            .await
            .unwrap()
    };
    enqueue("low", JobParameters::new().with_priority(-1)).await;
    enqueue(
        "scheduled",
        JobParameters::new().with_delay(Duration::from_secs(5)),
    )
    .await;
    enqueue("first", JobParameters::new()).await;
    enqueue("second", JobParameters::new()).await;
    enqueue("high", JobParameters::new().with_priority(1)).await;
    world.until(6.0).await;
    enqueue("late", JobParameters::new()).await;
    let worker = start(
        world
            .worker()
            .handler::<Task, _>(Runner(world.witness.clone()))
            .concurrency(1),
    );
    world.until_all_ended().await;
    worker.stop().await;
    let names: Vec<_> = world
        .witness
        .runs()
        .into_iter()
        .map(|run| run.label)
        .collect();
    assert_eq!(
        names,
        ["high", "first", "second", "scheduled", "late", "low"]
    );
}

/// R110: a scheduled job starts at its instant, not before, and nobody polls for it.
#[tokio::test(start_paused = true)]
async fn a_scheduled_job_starts_at_its_instant() {
    let world = World::new();
    let worker = start(
        world
            .worker()
            .handler::<Task, _>(Runner(world.witness.clone())),
    );
    let id = world
        .publisher
        .enqueue_with(
            task("later", 0),
            JobParameters::new().with_delay(Duration::from_hours(1)),
        )
        .await
        .unwrap();
    world.until(3599.0).await;
    assert_eq!(world.job(id).await.state, JobState::Scheduled);
    let turns = world.memory.operations().turns;
    assert!(turns < 10, "{turns} turns for nothing");
    world.until(3601.0).await;
    let began = seconds(world.witness.runs()[0].began);
    assert!((3600.0..3600.01).contains(&began), "at {began}");
    worker.stop().await;
}

/// R27: a worker serves the queues that it names, and no others.
#[tokio::test(start_paused = true)]
async fn a_worker_serves_only_its_queues() {
    let world = World::new();
    let mail = world
        .publisher
        .enqueue_with(task("mail", 0), JobParameters::new().with_queue("mail"))
        .await
        .unwrap();
    let other = world.publisher.enqueue(task("default", 0)).await.unwrap();
    let worker = start(
        world
            .worker()
            .handler::<Task, _>(Runner(world.witness.clone()))
            .queue("mail"),
    );
    world.until(1.0).await;
    worker.stop().await;
    assert_eq!(world.job(mail).await.state, JobState::Succeeded);
    assert_eq!(world.job(other).await.state, JobState::Enqueued);
}

/// R83: nothing is claimed after the shutdown; what ends within the grace time is recorded, the rest goes back and was no attempt.
#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_handlers_finish_and_returns_the_rest() {
    let world = World::new();
    let worker = world
        .worker()
        .handler::<Task, _>(Runner(world.witness.clone()));
    let running = start(worker.concurrency(2).grace(Duration::from_secs(10)));
    let short = world.publisher.enqueue(task("short", 5)).await.unwrap();
    let long = world.publisher.enqueue(task("long", 100)).await.unwrap();
    let never = world.publisher.enqueue(task("never", 0)).await.unwrap();
    world.until(1.0).await;
    running.stop().await;

    assert!(
        (11.0..12.5).contains(&world.seconds()),
        "ended at {}",
        world.seconds()
    );
    assert_eq!(world.job(short).await.state, JobState::Succeeded);
    assert_eq!(world.job(never).await.state, JobState::Enqueued);
    let job = world.job(long).await;
    assert_eq!(
        (job.state, job.attempts, seconds(job.place)),
        (JobState::Enqueued, 0, 0.0),
        "it keeps its place"
    );
    assert_eq!(
        world.log(long).await.last().map(String::as_str),
        Some("returned to the queue")
    );

    let worker = start(
        world
            .worker()
            .handler::<Task, _>(Runner(world.witness.clone())),
    );
    world.until_all_ended().await;
    worker.stop().await;
    assert_eq!(
        world
            .witness
            .of("long")
            .iter()
            .map(|run| run.attempt)
            .collect::<Vec<_>>(),
        [1, 1]
    );
}

/// R83: a handler is told when the grace time has run out, and may end by itself.
#[tokio::test(start_paused = true)]
async fn a_handler_learns_that_it_has_to_stop() {
    #[derive(Debug, Serialize, Deserialize, Job)]
    struct Patient;

    struct Watcher(Witness);

    impl JobHandler<Patient> for Watcher {
        async fn handle(&self, _: Patient, ctx: &JobContext) -> JobResult {
            self.0.watch("patient", ctx, ctx.cancelled()).await;
            Err(JobError::new("stopped half-way"))
        }
    }

    let world = World::new();
    let running = start(
        world
            .worker()
            .handler::<Patient, _>(Watcher(world.witness.clone()))
            .grace(Duration::from_secs(3)),
    );
    let id = world.publisher.enqueue(Patient).await.unwrap();
    world.until(1.0).await;
    running.stop().await;
    let ended = world.witness.runs()[0].ended.map(seconds);
    assert!(
        ended.is_some_and(|at| (4.0..4.1).contains(&at)),
        "{ended:?}"
    );
    assert_eq!(
        world.job(id).await.state,
        JobState::Enqueued,
        "an error after the notice is no fault of its own"
    );
}

/// R80: the jobs of a worker that vanished go to another one after its lease, once.
#[tokio::test(start_paused = true)]
async fn the_jobs_of_a_vanished_worker_go_to_another() {
    let world = World::new();
    let worker = || {
        world
            .worker()
            .lease(Duration::from_secs(30))
            .handler::<Task, _>(Runner(world.witness.clone()))
    };
    let doomed = start(worker());
    let id = world.publisher.enqueue(task("lost", 600)).await.unwrap();
    world.until(1.0).await;
    doomed.kill().await;
    let other = start(worker());
    world.until_all_ended().await;
    other.stop().await;

    let runs = world.witness.of("lost");
    assert_eq!(runs.len(), 2);
    let again = seconds(runs[1].began);
    assert!((30.0..45.0).contains(&again), "again at {again}");
    let job = world.job(id).await;
    assert_eq!(
        (job.state, job.lost, job.attempts),
        (JobState::Succeeded, 1, 1)
    );
}

/// R84: a job with one attempt is lost only once, and then fails; it is not left as running.
#[tokio::test(start_paused = true)]
async fn a_job_with_one_attempt_fails_when_its_worker_vanishes() {
    let world = World::new();
    let worker = || {
        let worker = world
            .worker()
            .lease(Duration::from_secs(30))
            .retry(Retry::attempts(1));
        worker.handler::<Task, _>(Runner(world.witness.clone()))
    };
    let doomed = start(worker());
    let id = world.publisher.enqueue(task("lost", 600)).await.unwrap();
    world.until(1.0).await;
    doomed.kill().await;
    let other = start(worker());
    world.until_all_ended().await;
    other.stop().await;

    let job = world.job(id).await;
    assert_eq!((job.state, job.lost), (JobState::Failed, 1));
    assert!(job.error.is_some_and(|error| error.contains("worker died")));
    assert_eq!(world.witness.of("lost").len(), 1);
}

/// R80: what held up one worker may have held up the others; none of them is declared dead for it.
#[tokio::test(start_paused = true)]
async fn workers_that_were_held_up_together_do_not_bury_each_other() {
    let world = World::new();
    let worker = || {
        let worker = world.worker().lease(Duration::from_secs(30)).concurrency(1);
        start(worker.handler::<Task, _>(Runner(world.witness.clone())))
    };
    let workers = [worker(), worker()];
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(world.publisher.enqueue(task("long", 300)).await.unwrap());
    }
    world.until(1.0).await;
    assert_eq!(world.count(JobState::Processing).await, 2);
    tokio::time::advance(Duration::from_secs(120)).await;
    world.until_all_ended().await;
    for worker in workers {
        worker.stop().await;
    }
    for id in ids {
        let job = world.job(id).await;
        assert_eq!(
            (job.state, job.lost, job.attempts),
            (JobState::Succeeded, 0, 1)
        );
    }
}
