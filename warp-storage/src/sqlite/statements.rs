//! The statements. Each reads or writes sets: lists go in as JSON, and what is read comes out as one document.
//!
//! Texts never change, so that they are prepared once, and no plan depends on statistics: `CROSS JOIN` keeps the order in which they are
//! written, and a correlated `json_each((SELECT json_group_array(…) … LIMIT n))` is how SQLite reads the first few of each group.

macro_rules! statements {
    ($($name:ident: $($file:literal)+;)+) => {
        $(pub(super) const $name: &str = concat!($(include_str!(concat!("sql/", $file, ".sql"))),+);)+

        /// All of them, for the tests that look at each.
        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),+];
    };
}

statements! {
    // A turn, in its order.
    PEEK: "routes" "fetch" "peek" "agenda" "peek_end";
    ENDS: "ends";
    LANES: "routes" "lanes";
    JOBS: "routes" "fetch" "jobs";
    KEYS: "keys";
    JUDGED: "judged";
    SLOTS: "slots";
    LANES_WRITE: "lanes_write";
    LANES_DELETE: "lanes_delete";
    LIMITERS_WRITE: "limiters_write";
    LOG_WRITE: "log_write";
    TURN_END: "turn_end" "routes" "turn_end_agenda" "agenda" "turn_end_end";
    // Rows that cannot be judged.
    MEND: "mend";
    MEND_HEADS: "mend_heads";
    MEND_EMPTY: "mend_empty";
    LOOK_AT_KEYS: "look_at_keys";
    // Publishers.
    ENQUEUE: "enqueue";
    ENQUEUE_LOG: "enqueue_log";
    // Workers.
    REGISTER: "register";
    WORKERS: "workers";
    TOUCH: "touch";
    LOOK_AT_LINES: "look_at_lines";
    RUNNING: "running";
    GIVE_BACK: "give_back";
    WORKER_DELETE: "worker_delete";
    // The clock, and the sweep.
    LOOK_AT_ALL: "look_at_all";
    WORKERS_LATEST: "workers_latest";
    STORE_LATEST: "store_latest";
    WORKERS_SEEN: "workers_seen";
    SWEEP: "sweep";
    LIMITERS_DELETE: "limiters_delete";
    TIMED: "timed";
    // Queries.
    JOB: "job" "job_by_id";
    JOB_LIST: "job" "job_list";
    LOG_READ: "log_read";
    COUNTERS: "counters";
}
