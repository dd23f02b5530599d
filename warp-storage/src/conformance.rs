//! The laws: what every store has to do, written once.
//!
//! For authors of backends. A backend implements [`Harness`] and stamps the list with [`store_laws!`](crate::store_laws), which gives
//! one test for each law. A law uses nothing but the [`Store`] trait and a clock that it moves; what not every backend can offer (how often
//! a row was written, a hand on its rows) it asks the harness for, and goes without where the answer is `None`.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a law panics where it is violated; its numbers are small"
)]

pub mod admission;
pub mod announcements;
pub mod bad_rows;
pub mod cancelling;
pub mod clock;
pub mod concurrency;
pub mod cost;
pub mod disowning;
mod elders;
pub mod fetch;
pub mod finishing;
pub mod jobs;
pub mod lines;
mod policies;
pub mod rates;
pub mod reading_back;
pub mod resolution;
mod scene;
pub mod several_keys;
pub mod sweep;
pub mod without_policies;
pub mod workers;

use warp_policy::Timestamp;
use warp_policy::ids::JobId;

pub use self::scene::{Listener, Scene, TestWorker};
use crate::clock::ManualClock;
use crate::store::{Store, async_trait};

/// The instant at which the clock of every law stands at first.
pub const DAWN: Timestamp = Timestamp::from_secs(1_754_006_400);

/// What a law returns; a violated one panics, one that could not be tried gives the error.
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A store to try the laws on: fresh for each of them. Its questions are `async`, since a database answers them by queries.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The store.
    fn store(&self) -> &dyn Store;

    /// The clock that the store follows, standing at [`DAWN`].
    fn clock(&self) -> &ManualClock;

    /// How often the row of a job was written.
    async fn job_writes(&self, _: JobId) -> Option<u32> {
        None
    }

    /// How many ready jobs and lanes have been judged so far.
    async fn judgements(&self) -> Option<u64> {
        None
    }

    /// How often a limiter's row was written so far.
    async fn limiter_writes(&self) -> Option<u64> {
        None
    }

    /// Damages the stamp of a job.
    async fn overwrite_stamp(&self, _: JobId, _: &str) -> Option<()> {
        None
    }

    /// Has the database refuse to let a job succeed.
    async fn refuse_success_of(&self, _: JobId) -> Option<()> {
        None
    }

    /// Lets every lane sleep without an end.
    async fn lose_wake_ups(&self) -> Option<()> {
        None
    }

    /// Whether the backend's own books are in order. Asked after every law.
    async fn audit(&self) -> Outcome {
        Ok(())
    }

    /// Notes that a part of a law could not be tried.
    #[expect(
        clippy::print_stderr,
        reason = "it belongs into the output of the test"
    )]
    fn skipped(&self, what: &str) {
        eprintln!("skipped: the backend does not offer {what}");
    }
}

/// Stamps one test for each law: `store_laws!(MyHarness::new().await)`.
#[macro_export]
macro_rules! store_laws {
    ($harness:expr) => {
        $crate::store_laws! { @list $harness;
            jobs: ids_ascend_in_the_order_of_enqueueing, a_job_is_shown_as_it_was_enqueued,
                a_scheduled_job_is_ready_at_its_instant, priority_goes_before_place, lists_are_filtered_and_paged,
                the_log_keeps_every_decision, an_unknown_job_is_none;
            finishing: a_success_ends_the_job, a_retry_is_ready_after_its_delay, a_failure_is_final,
                a_returned_job_keeps_its_place_and_its_attempts, a_result_under_a_lost_claim_changes_nothing,
                a_result_reported_twice_counts_once, claims_ascend, a_returned_job_goes_before_its_waiters,
                a_retried_job_goes_behind_its_waiters;
            concurrency: a_semaphore_admits_its_limit_and_no_more, every_end_frees_the_slot,
                different_limits_of_one_key_share_its_usage, mutex_and_semaphore_share_a_key_space,
                families_have_separate_key_spaces, the_freed_slot_goes_to_the_next_in_the_same_turn;
            admission: one_refusal_takes_nothing, concurrency_is_judged_before_rate_limits, skip_ends_the_job,
                a_retry_waits_where_a_first_start_is_skipped, a_returned_job_waits_where_a_first_start_is_skipped,
                a_key_with_waiters_is_full_for_skip, waiters_that_nobody_can_run_do_not_make_a_key_full,
                a_lost_job_waits_where_a_first_start_is_skipped;
            several_keys: opposite_orders_do_not_deadlock, a_head_of_several_keys_does_not_starve, a_waiting_job_holds_nothing,
                an_elder_that_nobody_can_run_frees_its_keys;
            lines: a_newcomer_does_not_overtake_a_waiter, a_higher_priority_goes_before_waiters, a_lane_keeps_its_order,
                a_free_key_is_left_to_an_older_head_for_a_second, a_line_longer_than_one_read_drains,
                a_long_line_of_busy_workers_holds_up_others_for_a_second, lanes_that_nobody_can_run_hold_up_nobody,
                a_kind_that_gets_its_first_worker_starts_at_once, waiters_that_nobody_could_run_start_when_somebody_comes,
                waiters_and_policy_free_jobs_are_taken_in_one_order,
                a_small_room_is_not_given_to_younger_jobs;
            rates: a_refused_job_spends_no_token, a_sliding_window_has_no_boundary, fixed_windows_are_aligned_to_the_epoch,
                odd_ratios_do_not_drift, waiting_costs_no_attempt, every_attempt_is_a_start,
                the_next_start_is_announced_to_the_microsecond, each_instant_starts_as_many_as_it_has_tokens_for,
                every_start_counts_for_every_style_of_its_key, a_job_turned_away_by_its_mutex_uses_up_no_rate;
            clock: a_start_is_never_before_the_last_one, a_clock_that_went_back_gives_no_token_twice,
                a_clock_that_went_back_delays_no_waiter_by_more_than_a_window, a_clock_that_went_back_loses_no_ready_job;
            fetch: foreign_kinds_cost_nothing, waiters_cost_other_work_nothing,
                the_intake_of_a_full_key_leaves_other_kinds_their_share, policy_free_jobs_are_not_judged_by_any_key,
                a_larger_fetch_keeps_the_order;
            without_policies: every_end_of_a_turn_without_policies_is_written,
                a_due_lane_takes_its_turn_among_jobs_without_policies, a_ready_job_with_a_policy_is_not_passed;
            cost: two_policies_that_bind_by_turns_cost_four_writes_a_job, a_backlog_of_one_rate_costs_four_writes_a_job;
            resolution: the_stamp_is_written_by_the_turn_that_judges, a_job_left_for_lack_of_room_is_not_stamped,
                a_stamped_job_is_not_resolved_again, a_job_that_cannot_be_resolved_fails;
            bad_rows: a_damaged_stamp_fails_that_job_only, a_waiting_job_that_fails_is_reported,
                a_damaged_stamp_of_a_running_job_leaks_no_slot, a_damaged_elder_frees_its_keys,
                a_damaged_elder_frees_the_keys_of_other_turns;
            cancelling: a_job_that_does_not_run_ends_at_once, what_has_ended_cannot_be_cancelled,
                a_cancelled_waiter_leaves_its_lane, a_cancelled_waiter_that_was_due_never_runs,
                who_stood_behind_a_cancelled_head_goes_at_once, a_cancelled_elder_frees_its_keys,
                a_running_job_ends_when_its_handler_has, a_cancelled_job_never_becomes_ready_again,
                a_cancelled_job_ends_with_its_worker;
            workers: a_worker_gets_only_its_kinds_and_queues, a_draining_worker_is_no_longer_counted_on,
                a_silent_worker_is_declared_dead_once, a_turn_of_a_dead_worker_is_refused, a_job_is_lost_only_so_often,
                a_clock_that_went_back_delays_no_reclaim_by_more_than_a_lease, a_worker_that_leaves_gives_its_jobs_back,
                a_heartbeat_keeps_a_worker_alive, a_worker_that_comes_back_in_time_is_counted_on_again,
                a_draining_worker_starts_nothing, a_dead_worker_is_not_waited_for, workers_agree_on_one_key_secret;
            reading_back: what_a_worker_knows_of_is_told_apart, what_was_started_unknown_to_it_is_told_as_it_was_started,
                nobody_elses_jobs_are_read_back, a_dead_worker_reads_nothing_back;
            disowning: a_disowned_job_is_lost_and_its_slot_is_free, a_job_is_disowned_only_so_often,
                a_cancelled_job_ends_when_it_is_disowned, nothing_else_is_disowned,
                a_result_that_is_refused_changes_nothing;
            announcements: a_new_job_is_announced, a_lane_that_wakes_for_others_is_announced,
                a_job_that_comes_back_is_announced, a_worker_without_room_announces_the_lanes_it_leaves,
                work_of_its_own_is_not_announced;
            sweep: lost_wake_ups_are_repaired_and_counted, a_sweep_finds_nothing_to_repair,
                idle_limiters_are_forgotten_and_answer_the_same, late_timers_are_repaired;
        }
    };
    (@list $harness:expr; $($topic:ident: $($law:ident),+;)+) => {
        $(mod $topic {
            #[allow(unused_imports, reason = "a harness may come from anywhere")]
            use super::*;
            $(#[tokio::test]
            async fn $law() -> $crate::conformance::Outcome {
                let harness = $harness;
                $crate::conformance::$topic::$law(&harness).await?;
                $crate::conformance::Harness::audit(&harness).await
            })+
        })+
    };
}
