//! How a store is opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use super::error::{Place, PostgresError};
use super::notices::{self, Notices};
use super::statements::Statements;
use super::time::Time;
use super::{Inner, Postgres, changes, migrations};
use crate::clock::Clock;

/// The longest name that PostgreSQL keeps.
const LONGEST_NAME: usize = 63;

/// How a store is opened; see [`Postgres::options`].
#[derive(Clone, Debug)]
#[must_use = "nothing is opened before `connect` or `open`"]
pub struct PostgresOptions {
    url: Url,
    schema: String,
    max_connections: u32,
    patience: Duration,
    looks_every: Duration,
    notifies: bool,
    program: migrations::Program,
    clock: Option<Arc<dyn Clock>>,
}

/// A URL, which may hold a password and is shown to nobody.
#[derive(Clone)]
struct Url(String);

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<not shown>")
    }
}

impl PostgresOptions {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: Url(url.to_owned()),
            schema: "warp".to_owned(),
            max_connections: 10,
            patience: Duration::from_secs(5),
            looks_every: Duration::from_millis(800),
            notifies: true,
            program: migrations::Program::default(),
            clock: None,
        }
    }

    /// The schema that holds the tables, so that several applications can share a database. Default `warp`.
    pub fn schema(self, schema: impl Into<String>) -> Self {
        let schema = schema.into();
        Self { schema, ..self }
    }

    /// How many connections the store opens at most; each call takes one for as long as it lasts. Default 10.
    pub fn max_connections(self, max_connections: u32) -> Self {
        Self {
            max_connections: max_connections.max(1),
            ..self
        }
    }

    /// How long a call waits for a connection before it fails with [`PostgresError::NoConnection`]. Default 5 s.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How often the store looks whether another process has changed anything, while somebody listens; a fifth more or less, so that not all
    /// processes look at once. It is the fall-back, and costs one statement that reads one row. Default 800 ms, which is never more
    /// than a second (R44).
    pub fn looks_every(self, looks_every: Duration) -> Self {
        Self {
            looks_every,
            ..self
        }
    }

    /// Whether processes tell each other of changes by `NOTIFY`, and listen on a connection of their own (R44). Turn it off behind a pooler in
    /// transaction mode, where nobody can listen: what others did is then found by the regular look. Default on.
    pub fn notifications(self, notifies: bool) -> Self {
        Self { notifies, ..self }
    }

    pub(super) fn notifies(&self) -> bool {
        self.notifies
    }

    /// The name of the channel on which notices are told: that of the schema.
    pub(super) fn channel(&self) -> &str {
        &self.schema
    }

    /// A clock that the store follows instead of the database's own (R66). For tests.
    pub fn clock(self, clock: impl Clock) -> Self {
        Self {
            clock: Some(Arc::new(clock)),
            ..self
        }
    }

    /// Opens the store as the next version of the program does, which adds this step to the schema. For tests of R87.
    #[doc(hidden)]
    pub fn next_version(self, sql: &'static str, serves_the_present: bool) -> Self {
        Self {
            program: migrations::Program::next(sql, serves_the_present),
            ..self
        }
    }

    /// Opens the store, and brings its schema up to date first, which creates it where it is missing.
    ///
    /// # Errors
    /// [`PostgresError`]: the URL or the name of the schema cannot be used, the server cannot be reached or does not let the user in, or the
    /// schema was written by a program too new for this one.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect(self) -> Result<Postgres, PostgresError> {
        let store = self.begin()?;
        store.migrate().await?;
        store.ready().await
    }

    /// Opens the store and changes nothing: for a user who must not make tables. Somebody else has called [`Postgres::migrate`].
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and [`PostgresError::NotMigrated`].
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn open(self) -> Result<Postgres, PostgresError> {
        self.begin()?.ready().await
    }

    /// Brings the schema up to date, which creates it where it is missing. Safe when several processes do it at once.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn migrate(self) -> Result<(), PostgresError> {
        let store = self.begin()?;
        store.migrate().await?;
        store.pool.close().await;
        Ok(())
    }

    fn begin(self) -> Result<Unopened, PostgresError> {
        let begins_well = self
            .schema
            .starts_with(|first: char| first.is_ascii_lowercase() || first == '_');
        let goes_on_well = self
            .schema
            .chars()
            .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_');
        if !begins_well || !goes_on_well || self.schema.len() > LONGEST_NAME {
            let schema = self.schema;
            return Err(PostgresError::SchemaName { schema });
        }
        let options: PgConnectOptions = self
            .url
            .0
            .parse()
            .map_err(|source| PostgresError::Url { source })?;
        let options = options.application_name("warp").disable_statement_logging();
        let server = format!(
            "{}:{}/{}",
            options.get_host(),
            options.get_port(),
            options
                .get_database()
                .unwrap_or_else(|| options.get_username()),
        );
        let pool = PgPoolOptions::new()
            .max_connections(self.max_connections)
            .acquire_timeout(self.patience)
            .test_before_acquire(false)
            .connect_lazy_with(options.clone());
        Ok(Unopened {
            connection: options,
            place: Place::new(&self.schema, &server),
            pool,
            options: self,
        })
    }
}

/// A store that has not been looked at yet.
struct Unopened {
    connection: PgConnectOptions,
    pool: sqlx::PgPool,
    place: Place,
    options: PostgresOptions,
}

impl Unopened {
    async fn migrate(&self) -> Result<(), PostgresError> {
        let mut connection = self.connection().await?;
        let PostgresOptions {
            schema, program, ..
        } = &self.options;
        migrations::migrate(&mut connection, schema, &self.place, *program).await
    }

    async fn ready(self) -> Result<Postgres, PostgresError> {
        let mut connection = self.connection().await?;
        let PostgresOptions {
            schema, program, ..
        } = &self.options;
        let id = migrations::id(&mut connection, schema, &self.place, *program).await?;
        drop(connection);
        let inner = Arc::new(Inner {
            place: self.place,
            id,
            statements: Statements::of(&self.options.schema),
            pool: self.pool,
            time: Time::new(self.options.clock.clone()),
            counts: Arc::default(),
            options: self.options,
            announcements: crate::store::Announcements::default(),
            kinds: std::sync::Mutex::default(),
            known_keys: std::sync::Mutex::default(),
            unreported: std::sync::Mutex::default(),
            cursors: tokio::sync::Mutex::default(),
            notices: Notices::default(),
        });
        inner.presence().await?;
        notices::start(&inner, self.connection).await;
        changes::watch(&inner, inner.options.looks_every);
        Ok(Postgres { inner })
    }

    async fn connection(
        &self,
    ) -> Result<sqlx::pool::PoolConnection<sqlx::Postgres>, PostgresError> {
        let connection = self.pool.acquire().await;
        connection.map_err(|error| PostgresError::of(&self.place, error))
    }
}
