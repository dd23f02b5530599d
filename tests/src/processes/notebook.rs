//! What the handlers of all processes saw, in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warp_runtime::{JobContext, JobId, Timestamp};

/// A line of the notebook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A handler began.
    Began {
        /// The process that it runs in.
        process: String,
        /// The job.
        job: JobId,
        /// The key that it runs under.
        key: String,
        /// The admission instant.
        admitted_at: Timestamp,
        /// The number of its start.
        token: i64,
    },
    /// A handler ended.
    Ended {
        /// The process that it ran in.
        process: String,
        /// The job.
        job: JobId,
        /// The key that it ran under.
        key: String,
    },
    /// A process was killed, or frozen for longer than its lease: what it ran counts no more.
    Gone {
        /// The process.
        process: String,
    },
}

/// A file of notes. The lines of all processes are in the order in which they were written: each is written at once, to the end.
#[derive(Debug)]
pub struct Notebook {
    path: PathBuf,
    file: File,
}

impl Notebook {
    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> Self {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self {
            path: path.to_owned(),
            file: file.unwrap(),
        }
    }

    /// Writes one note.
    pub fn write(&self, note: &Note) {
        let line = serde_json::to_string(note).unwrap() + "\n";
        (&self.file).write_all(line.as_bytes()).unwrap();
    }

    /// Notes that a handler begins; the end is noted with [`ended`](Self::ended).
    pub fn began(&self, process: &str, key: &str, context: &JobContext) {
        self.write(&Note::Began {
            process: process.to_owned(),
            job: context.id(),
            key: key.to_owned(),
            admitted_at: context.admitted_at(),
            token: context.fencing_token(),
        });
    }

    /// Notes that a handler has ended.
    pub fn ended(&self, process: &str, key: &str, context: &JobContext) {
        self.write(&Note::Ended {
            process: process.to_owned(),
            job: context.id(),
            key: key.to_owned(),
        });
    }

    /// All notes so far.
    pub fn read(&self) -> Vec<Note> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Lets every [`Errand`](super::Errand) end.
    pub fn call_back(&self) {
        std::fs::write(self.path.with_extension("back"), "").unwrap();
    }

    /// Whether they may end.
    pub fn is_called_back(&self) -> bool {
        self.path.with_extension("back").exists()
    }

    /// In which processes a job has begun so far, in that order.
    pub fn begun(&self, id: JobId) -> Vec<String> {
        let begun = self.read().into_iter().filter_map(|note| match note {
            Note::Began { process, job, .. } if job == id => Some(process),
            _ => None,
        });
        begun.collect()
    }
}
