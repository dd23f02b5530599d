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
    PEEK: "routes" "unbounded" "fetch" "peek" "agenda" "end";
    ENDS: "ends";
    PROMOTE: "routes" "promote";
    DUE: "routes" "lanes" "fetch" "due" "workers" "due_end";
    KEYS: "keys";
    JUDGED: "judged";
    SLOTS: "slots";
    LANES_WRITE: "lanes_write";
    LANES_DELETE: "lanes_delete";
    LIMITERS_WRITE: "limiters_write";
    LOG_WRITE: "log_write";
    TURN_END: "turn_end" "routes" "select" "agenda" "end";
    // Rows that cannot be judged.
    MEND: "mend";
    MEND_HEADS: "mend_heads";
    MEND_EMPTY: "mend_empty";
    LOOK_AT_KEYS: "look_at_keys";
    // Publishers.
    FILE_ID: "file_id";
    ENQUEUE: "enqueue" "file_id" "enqueue_end";
    ENQUEUE_LOG: "enqueue_log";
    // Jobs that are cancelled.
    CANCELLING: "cancelling";
    CANCEL: "cancel";
    // Workers.
    KEY_SECRET: "key_secret";
    REGISTER: "register";
    WORKERS: "select" "workers";
    TOUCH: "touch";
    LOOK_AT_LINES: "look_at_lines";
    RUNNING: "running";
    READ_BACK: "read_back";
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use sqlx::{AssertSqlSafe, ConnectOptions, Row, SqliteConnection};

    use super::ALL;
    use crate::sqlite::Sqlite;

    /// The tables that grow with the work.
    const LARGE: [&str; 5] = [
        "warp_jobs",
        "warp_lanes",
        "warp_limiters",
        "warp_slots",
        "warp_log",
    ];

    /// A clock that went back has every line looked at, whatever that costs.
    const MAY_SCAN: [(&str, &str); 1] = [("LOOK_AT_ALL", "warp_lanes")];

    /// R45: what a statement costs does not depend on how much else there is. Judged by SQLite's own programs on tables that were never
    /// analysed: a cursor on a large table or its index is moved by seeking, and never rewound to the beginning.
    #[tokio::test]
    async fn no_statement_walks_through_a_large_table() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let storage = Sqlite::open(folder.path().join("jobs.db")).await?;
        let mut connection = sqlx::sqlite::SqliteConnectOptions::new()
            .filename(storage.file())
            .connect()
            .await?;
        let tables = root_pages(&mut connection).await?;
        for &(name, sql) in ALL {
            for table in rewound(&mut connection, sql, &tables).await? {
                assert!(
                    MAY_SCAN.contains(&(name, &table)),
                    "{name} walks through {table}"
                );
            }
        }
        let scan = rewound(
            &mut connection,
            "SELECT count(payload) FROM warp_jobs",
            &tables,
        )
        .await?;
        assert_eq!(
            scan,
            BTreeSet::from(["warp_jobs".to_owned()]),
            "the test sees what it looks for"
        );
        Ok(())
    }

    /// The large tables by the pages at which they, and their indexes, begin.
    async fn root_pages(
        connection: &mut SqliteConnection,
    ) -> Result<BTreeMap<i64, String>, sqlx::Error> {
        let rows = sqlx::query("SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")
            .fetch_all(connection)
            .await?;
        let mut pages = BTreeMap::new();
        for row in rows {
            let table: String = row.try_get(1)?;
            if LARGE.contains(&table.as_str()) {
                pages.insert(row.try_get(0)?, table);
            }
        }
        Ok(pages)
    }

    /// The large tables that a statement's program begins to read from one end.
    async fn rewound(
        connection: &mut SqliteConnection,
        sql: &str,
        tables: &BTreeMap<i64, String>,
    ) -> Result<BTreeSet<String>, sqlx::Error> {
        let mut cursors: BTreeMap<i64, Option<&String>> = BTreeMap::new();
        let mut rewound = BTreeSet::new();
        let program = sqlx::query(AssertSqlSafe(format!("EXPLAIN {sql}")))
            .fetch_all(connection)
            .await?;
        for row in program {
            let (opcode, cursor, page): (String, i64, i64) =
                (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            match opcode.as_str() {
                "OpenRead" | "OpenWrite" => {
                    cursors.insert(cursor, tables.get(&page));
                }
                "OpenEphemeral" | "OpenAutoindex" | "OpenPseudo" | "SorterOpen" | "VOpen" => {
                    cursors.insert(cursor, None);
                }
                "Rewind" | "Last" => {
                    rewound.extend(cursors.get(&cursor).copied().flatten().cloned());
                }
                _ => {}
            }
        }
        Ok(rewound)
    }
}
