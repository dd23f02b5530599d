//! A worker in a process of its own.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::{Child, Command};

use super::jobs::Trade;
use super::notebook::{Note, Notebook};
use super::office::Outcome;
use super::place::{Costs, Place};
use super::version::Version;

/// What a worker process is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shift {
    /// What the notebook calls it.
    pub process: String,
    /// Where the jobs are.
    pub place: Place,
    /// Where the notebook is.
    pub notebook: PathBuf,
    /// The queue it serves.
    pub queue: String,
    /// What it has handlers for.
    pub trade: Trade,
    /// Of which version its program is.
    pub version: Version,
    /// What is loaded before everything else.
    pub shim: Option<PathBuf>,
    /// How many handlers run at once.
    pub concurrency: usize,
    /// Its lease.
    pub lease: Duration,
}

/// A running process. It is killed when dropped.
#[derive(Debug)]
pub struct WorkerProcess {
    /// What the notebook calls it.
    pub name: String,
    child: Child,
}

impl WorkerProcess {
    /// Starts the program, the test crate's `worker-process`.
    pub fn start(program: &str, shift: &Shift) -> Self {
        let child = command(program, shift).spawn();
        Self {
            name: shift.process.clone(),
            child: child.unwrap(),
        }
    }

    /// Starts a program that ends by itself, and not well: what it says.
    pub async fn refusal(program: &str, shift: &Shift) -> Outcome<String> {
        let child = command(program, shift).stderr(Stdio::piped()).spawn()?;
        let output = child.wait_with_output().await?;
        if output.status.success() {
            return Err(format!("{} has begun its shift", shift.process).into());
        }
        Ok(String::from_utf8(output.stderr)?)
    }

    /// Kills it with signal 9, and notes that.
    pub async fn kill(mut self, notebook: &Notebook) {
        self.child.kill().await.unwrap();
        notebook.write(&Note::Gone { process: self.name });
    }

    /// Freezes it with SIGSTOP.
    pub async fn freeze(&self) {
        self.signal("-STOP").await;
    }

    /// Lets it go on with SIGCONT.
    pub async fn thaw(&self) {
        self.signal("-CONT").await;
    }

    async fn signal(&self, signal: &str) {
        let id = self.child.id().unwrap().to_string();
        let status = Command::new("kill").args([signal, &id]).status().await;
        assert!(status.unwrap().success());
    }

    /// Asks it to shut down, and waits until it has.
    pub async fn stop(mut self) -> Costs {
        drop(self.child.stdin.take());
        let output = self.child.wait_with_output().await.unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.name);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn command(program: &str, shift: &Shift) -> Command {
    let mut command = Command::new(program);
    command
        .arg(serde_json::to_string(shift).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    if let Some(shim) = &shift.shim {
        command.env("LD_PRELOAD", shim);
    }
    command
}
