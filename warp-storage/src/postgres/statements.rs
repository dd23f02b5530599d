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
    // A turn without keys, and what one with keys begins with instead.
    turn_without_keys: "turn_without_keys";
    // A turn with keys, in its order.
    peek: "routes" "moment" "unbounded" "ready_or_due" "fetch" "peek" "agenda" "end";
    limiters_insert: "limiters_insert";
    opening_that_waits: "opening" "asked_by_worker" "locked_waiting" "moment" "ends" "row_waiting" "ends_end" "locks";
    opening_at_once: "opening" "asked_by_worker" "locked_at_once" "moment" "ends" "row_at_once" "ends_end" "locks";
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
    notify: "notify";
    // Jobs that are cancelled.
    cancelling: "only_moment" "cancelling";
    worker_share: "worker_share";
    cancel: "cancel";
    // Workers.
    key_secret: "key_secret";
    register: "only_moment" "register";
    workers: "instant" "now_and_workers" "workers" "end";
    touch: "touch";
    look_at_lines: "look_at_lines";
    worker_lock: "worker_lock";
    running: "running";
    read_back: "read_back";
    give_back: "give_back" "gone" "log_write" "done";
    disown: "give_back" "log_write" "done";
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use sqlx::postgres::PgConnectOptions;
    use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

    use super::{Statements, in_schema};
    use crate::postgres::{Postgres, session::BEGIN};

    type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

    /// The tables that grow with the work.
    const LARGE: [&str; 6] = ["jobs", "lanes", "lines", "limiters", "slots", "log"];

    /// A clock that went back has every line looked at, whatever that costs.
    const MAY_SCAN: [(&str, &str); 1] = [("look_at_all", "lines")];

    /// Statements that are transactions of their own, for which nothing is set.
    const ALONE: [&str; 5] = ["peek", "workers", "counters", "enqueue", "is_there"];

    /// R45: what a statement costs does not depend on how much else there is. Judged by the plans for tables that were never analysed, and
    /// for tables that were analysed while they were empty, made without knowing any parameter: a large table is entered through an
    /// index, at a place that the statement names. (For what is a transaction of its own nothing rules out to scan what seems empty.)
    #[tokio::test]
    async fn no_statement_walks_through_a_large_table() -> Outcome {
        let url = std::env::var("WARP_TEST_POSTGRES_URL")
            .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
        let options: PgConnectOptions = url.parse()?;
        let mut connection = match options.disable_statement_logging().connect().await {
            Ok(connection) => connection,
            Err(error) if std::env::var_os("WARP_TEST_REQUIRE_SERVICES").is_none() => {
                eprintln!("skipped: there is no PostgreSQL server: {error}");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let schema = format!("warp_test_{}_plans", std::process::id());
        let drop = format!("DROP SCHEMA {schema} CASCADE");
        Postgres::options(&url).schema(&schema).migrate().await?;
        let mut walks = Vec::new();
        for is_analysed in [false, true] {
            if is_analysed {
                let analyse = LARGE.map(|table| format!("ANALYZE {schema}.{table};"));
                sqlx::raw_sql(AssertSqlSafe(analyse.concat()))
                    .execute(&mut connection)
                    .await?;
            }
            let statements = Statements::of(&schema);
            let of_function = statements_of_function(&schema);
            let of_function = of_function
                .iter()
                .map(|text| ("turn_without_keys", text.as_str()));
            for (name, text) in statements.all().into_iter().chain(of_function) {
                if is_analysed && ALONE.contains(&name) {
                    continue;
                }
                for table in walked(&mut connection, name, text).await? {
                    if !MAY_SCAN.contains(&(name, &table)) {
                        walks.push(format!(
                            "{name} walks through {table}; analysed: {is_analysed}"
                        ));
                    }
                }
            }
        }
        let scan = format!("SELECT count(payload) FROM {schema}.jobs");
        let seen = walked(&mut connection, "scan", &scan).await?;
        sqlx::raw_sql(AssertSqlSafe(drop))
            .execute(&mut connection)
            .await?;
        assert!(walks.is_empty(), "{walks:#?}");
        assert_eq!(
            seen,
            BTreeSet::from(["jobs".to_owned()]),
            "the test sees what it looks for"
        );
        Ok(())
    }

    /// What the function does, which has set for itself what a transaction sets at its beginning. Its answers go into variables.
    fn statements_of_function(schema: &str) -> Vec<String> {
        let text = include_str!("migrations/0003_turn_without_keys.sql");
        let lines = text.lines().filter(|line| !line.trim().starts_with("--"));
        let body = lines.collect::<Vec<_>>().join("\n");
        let body = body.split("BEGIN\n").nth(1).unwrap_or_default();
        let statements: Vec<String> = body
            .split(';')
            .map(|statement| statement.split(" THEN\n").last().unwrap_or_default().trim())
            .filter(|statement| {
                ["WITH ", "UPDATE ", "PERFORM "]
                    .iter()
                    .any(|verb| statement.starts_with(verb))
            })
            .map(|statement| {
                let answer = statement.split("\n    INTO ").next().unwrap_or_default();
                let answer = answer
                    .split("\n            INTO what_")
                    .next()
                    .unwrap_or_default();
                let answer = answer
                    .replace("what_started", "NULL::json")
                    .replacen("PERFORM", "SELECT", 1);
                in_schema(&answer, schema)
            })
            .collect();
        assert_eq!(statements.len(), 7, "{statements:#?}");
        for setting in BEGIN.split("; SET LOCAL ").skip(1) {
            assert!(text.contains(&format!("\nSET {setting}\n")), "{setting}");
        }
        statements
    }

    /// The large tables through which a statement walks from one end.
    async fn walked(
        connection: &mut PgConnection,
        name: &str,
        text: &str,
    ) -> Outcome<BTreeSet<String>> {
        let parameters = (1..=9)
            .rev()
            .find(|number| text.contains(&format!("${number}")));
        let parameters = 1..=parameters.unwrap_or(0);
        // The type of one that does not occur cannot be told from the text.
        let types = parameters.clone().map(|number| {
            let occurs = text.contains(&format!("${number}"));
            if occurs { "unknown" } else { "text" }
        });
        let list = |parameters: Vec<&str>| {
            let is_empty = parameters.is_empty();
            (!is_empty).then(|| format!("({})", parameters.join(", ")))
        };
        let types = list(types.collect()).unwrap_or_default();
        let arguments = list(parameters.map(|_| "NULL").collect()).unwrap_or_default();
        let begin = if ALONE.contains(&name) {
            "BEGIN"
        } else {
            BEGIN
        };
        let mut transaction = connection.begin_with(begin).await?;
        let prepare = format!(
            "SET LOCAL plan_cache_mode = force_generic_plan; PREPARE looked_at {types} AS {text}"
        );
        sqlx::raw_sql(AssertSqlSafe(prepare))
            .execute(&mut *transaction)
            .await
            .map_err(|error| format!("{name}: {error}"))?;
        let explain = format!("EXPLAIN (FORMAT JSON) EXECUTE looked_at{arguments}");
        let plan: Value = {
            use sqlx::Row;
            let row = sqlx::raw_sql(AssertSqlSafe(explain))
                .fetch_one(&mut *transaction)
                .await?;
            serde_json::from_str(&row.try_get_unchecked::<String, _>(0)?)?
        };
        sqlx::raw_sql("DEALLOCATE looked_at")
            .execute(&mut *transaction)
            .await?;
        transaction.rollback().await?;
        let mut tables = BTreeSet::new();
        look(&plan[0]["Plan"], false, &mut tables);
        Ok(tables)
    }

    /// Looks through a plan. The first rows of an index are no walk; an index entered at no place is one.
    fn look(node: &Value, is_limited: bool, tables: &mut BTreeSet<String>) {
        let kind = node["Node Type"].as_str().unwrap_or_default();
        let table = node["Relation Name"].as_str().unwrap_or_default();
        // What a slot or a line of the log is looked up by leads to few of them.
        let enters = !node["Index Cond"].is_null()
            || !node["TID Cond"].is_null()
            || (kind.starts_with("Bitmap") && matches!(table, "slots" | "log"));
        let is_scan = kind.contains("Scan") && LARGE.contains(&table);
        if is_scan && (kind.starts_with("Seq") || !(enters || is_limited)) {
            tables.insert(table.to_owned());
        }
        let passes_on = matches!(kind, "LockRows" | "Subquery Scan");
        for child in node["Plans"].as_array().into_iter().flatten() {
            look(child, kind == "Limit" || (is_limited && passes_on), tables);
        }
    }
}
