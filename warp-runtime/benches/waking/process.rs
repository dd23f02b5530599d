//! A process of a round: this program, told whom to serve.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, watch};

use crate::Outcome;
use crate::jobs::{Hand, Part, Told, What};
use crate::place::Way;

/// What it is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shift {
    pub(crate) way: Way,
    pub(crate) name: String,
    pub(crate) part: Part,
}

/// Works until the standard input ends; each line there says up to which number doors are to be released.
pub(crate) async fn serve(told: &str) -> Outcome {
    let shift: Shift = serde_json::from_str(told)?;
    let storage = shift.way.open(&shift.name).await?;
    let (release, released) = watch::channel(0);
    let mut input = release.subscribe();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Some(number) = line.ok().and_then(|line| line.parse().ok()) else {
                break;
            };
            release.send_replace(number);
        }
    });
    let worker = Hand { released }.builder(shift.part, storage).build()?;
    let input_ends = async move { while input.changed().await.is_ok() {} };
    Ok(worker.run_until(input_ends).await?)
}

/// A running process.
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    told: mpsc::UnboundedReceiver<String>,
}

impl Process {
    pub(crate) fn start(shift: &Shift) -> Outcome<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve")
            .arg(serde_json::to_string(shift)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("it has an input")?;
        let output = child.stdout.take().ok_or("it has an output")?;
        let (sender, told) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, told })
    }

    pub(crate) fn release(&mut self, number: u32) -> Outcome {
        Ok(writeln!(self.input, "{number}")?)
    }

    /// What one of its handlers tells next.
    pub(crate) async fn next(&mut self) -> Outcome<Told> {
        let line = self.told.recv().await.ok_or("a process has gone")?;
        Ok(serde_json::from_str(&line)?)
    }

    /// The next that is told of a job, which has to be this.
    pub(crate) async fn expect(&mut self, what: What, number: u32) -> Outcome<Told> {
        let told = self.next().await?;
        if (told.what, told.number) == (what, number) {
            return Ok(told);
        }
        Err(format!("{what:?} {number} was expected, and {told:?} came").into())
    }

    pub(crate) fn stop(self) -> Outcome {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("a process has ended with {status}").into());
        }
        Ok(())
    }
}
