//! The statements, composed for a schema. Each reads or writes sets: lists go in as JSON, and what is read comes out as one document.
//!
//! Texts never change once they are composed, so that they are prepared once, and no plan depends on statistics: a list is read through
//! `CROSS JOIN LATERAL (… LIMIT n)`, which PostgreSQL can only carry out row by row, and a transaction that joins a list with a table has
//! ruled out every other way for itself (see `session.rs`). `warp.` in the texts stands for the schema.

use std::sync::Arc;

macro_rules! statements {
    ($($name:ident: $($file:literal)+;)+) => {
        /// The texts for one schema.
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: Arc<str>,)+
        }

        impl Statements {
            pub(super) fn of(schema: &str) -> Self {
                let of = |text: &str| Arc::from(in_schema(text, schema));
                Self {
                    $($name: of(concat!($(include_str!(concat!("sql/", $file, ".sql"))),+)),)+
                }
            }

            /// All of them, for the test that looks at each.
            #[cfg(test)]
            fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), &*self.$name)),+]
            }
        }
    };
}

statements! {
    // A turn, in its order.
    peek: "routes" "moment" "unbounded" "ready_or_due" "fetch" "peek" "agenda" "end";
    limiters_insert: "limiters_insert";
    opening_that_waits: "opening" "asked_by_worker" "locked_waiting" "moment" "ends" "locks";
    opening_at_once: "opening" "asked_by_worker" "locked_at_once" "moment" "ends" "locks";
    due: "routes" "moment" "lanes" "ready" "fetch" "taken" "due" "workers" "due_end";
    lock_at_once: "asked" "locked_at_once" "document" "locks";
    keys: "keys" "moment" "keys_end" "lane" "keys_line" "lane" "keys_lanes" "lane" "keys_judged" "workers" "end";
    write: "write" "log_write" "write_end";
    turn_end: "routes" "turn_end" "agenda";
    // Rows that cannot be judged.
    lock_waiting: "asked" "locked_waiting" "document" "locks";
    mend: "mend";
    mend_lanes: "mend_lanes";
    log_write: "told" "log_write" "done";
    // Publishers.
    is_there: "is_there";
    enqueue: "enqueue" "moment" "enqueue_end";
    // Workers.
    register: "only_moment" "register";
    workers: "only_moment" "now_and_workers" "workers" "end";
    touch: "touch";
    look_at_lines: "look_at_lines";
    worker_lock: "worker_lock";
    running: "running";
    give_back: "give_back" "log_write" "done";
    // The clock, and the sweep.
    look_at_all: "look_at_all";
    forget_latest: "forget_latest";
    seen: "seen";
    sweep: "sweep" "is_used" "sweep_end";
    forget: "forget" "is_used" "forget_end";
    timed: "timed";
    // Queries.
    job: "only_moment" "job" "job_by_id" "job_end";
    job_list: "only_moment" "job" "job_list" "job_end";
    log_read: "log_read";
    counters: "counters";
    changes: "changes";
}

/// A text for a schema, whose name needs no quotes.
pub(super) fn in_schema(text: &str, schema: &str) -> String {
    text.replace("warp.", &format!("{schema}."))
}
