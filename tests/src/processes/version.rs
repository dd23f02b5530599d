//! Programs of two versions (R87): the present one, and the next, which adds a step to the schema.

use std::path::Path;

use serde::{Deserialize, Serialize};
use warp_runtime::{Postgres, Sqlite};

use super::office::Outcome;
use super::place::{MAX_CONNECTIONS, Opened, Place};

/// What the next version does to a file: add to it.
const STEP_IN_A_FILE: &str = "
    ALTER TABLE warp_jobs ADD COLUMN note TEXT NOT NULL DEFAULT '';
    ALTER TABLE warp_lanes ADD COLUMN note TEXT;
    CREATE TABLE warp_notes (job INTEGER PRIMARY KEY, note TEXT);
    CREATE INDEX warp_jobs_by_note ON warp_jobs (note);";

/// The same on a server.
const STEP_ON_A_SERVER: &str = "
    ALTER TABLE warp.jobs ADD COLUMN note text NOT NULL DEFAULT '';
    ALTER TABLE warp.lanes ADD COLUMN note text;
    CREATE TABLE warp.notes (job bigint PRIMARY KEY, note text);
    CREATE INDEX jobs_by_note ON warp.jobs (note);";

/// The version of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// The present one.
    Present,
    /// The next one, whose schema serves the present one too.
    Next,
    /// A next one whose schema serves it alone.
    NextAlone,
}

impl Version {
    /// Opens a store as a program of this version does.
    pub async fn open(self, place: &Place) -> Outcome<Opened> {
        Ok(match place {
            Place::File(file) => Opened::File(self.open_file(file).await?),
            Place::Server { url, schema } => Opened::Server(self.connect(url, schema).await?),
        })
    }

    async fn open_file(self, file: &Path) -> Outcome<Sqlite> {
        let options = Sqlite::options(file);
        let options = match self {
            Self::Present => options,
            Self::Next => options.next_version(STEP_IN_A_FILE, true),
            Self::NextAlone => options.next_version(STEP_IN_A_FILE, false),
        };
        Ok(options.open().await?)
    }

    async fn connect(self, url: &str, schema: &str) -> Outcome<Postgres> {
        let options = Postgres::options(url).schema(schema);
        let options = match self {
            Self::Present => options,
            Self::Next => options.next_version(STEP_ON_A_SERVER, true),
            Self::NextAlone => options.next_version(STEP_ON_A_SERVER, false),
        };
        Ok(options.max_connections(MAX_CONNECTIONS).connect().await?)
    }
}
