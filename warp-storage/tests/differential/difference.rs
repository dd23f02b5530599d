//! What two stores answered and show, held against each other.

use std::fmt::{Debug, Display};

use warp_policy::Timestamp;
use warp_policy::ids::JobId;
use warp_storage::conformance::Harness;
use warp_storage::model::{Job, LogEntry};

use crate::Result;
use crate::side::Side;
use crate::step::{Answer, Step};

/// How many equal lines are shown before those that differ.
const LINES_BEFORE: usize = 3;

/// Memory and the backend that is compared with it.
pub(crate) struct Comparison {
    memory: Side,
    subject: Side,
    /// The jobs after the last step, on which both agreed.
    jobs: Vec<Job>,
}

impl Comparison {
    pub(crate) fn new(memory: Box<dyn Harness>, subject: Box<dyn Harness>) -> Self {
        Self {
            memory: Side::new(memory),
            subject: Side::new(subject),
            jobs: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.memory.now()
    }

    /// Lets both take a step, and returns what both answered. What they show is compared even where the answers differ, since that
    /// says more.
    pub(crate) async fn take(&mut self, step: &Step) -> Result<Answer> {
        if let Step::Damage { job, text } = step
            && self.subject.damage(*job, text).await.is_some()
        {
            self.memory.damage(*job, text).await;
        }
        let expected = self.memory.take(step).await?;
        let answer = self.subject.take(step).await?;
        let answers = differ("the answer", &expected, &answer);
        let shown = self.compare_what_changed().await;
        match (answers, shown) {
            (Ok(()), Ok(())) => Ok(expected),
            (Err(one), Ok(())) | (Ok(()), Err(one)) => Err(one),
            (Err(answers), Err(shown)) => Err(format!("{answers}\n{shown}").into()),
        }
    }

    async fn compare_what_changed(&mut self) -> Result {
        self.subject.audit().await?;
        let jobs = self.memory.all_jobs().await?;
        let shown = self.subject.all_jobs().await?;
        differ("the number of jobs", &jobs.len(), &shown.len())?;
        for (job, shown) in jobs.iter().zip(&shown) {
            if let Err(difference) = differ(format!("job {}", job.id), job, shown) {
                let log = text(&self.memory.log(job.id).await?);
                let shown = text(&self.subject.log(job.id).await?);
                return Err(format!(
                    "{difference}\nits log in memory:{log}\nin the subject:{shown}"
                )
                .into());
            }
        }
        let counters = self.memory.counters().await?;
        differ("the counters", &counters, &self.subject.counters().await?)?;
        let before = std::mem::replace(&mut self.jobs, jobs);
        for (number, job) in self.jobs.iter().enumerate() {
            if before.get(number) != Some(job) {
                self.compare_log(job.id).await?;
            }
        }
        Ok(())
    }

    /// Every log, and every job as it is shown alone.
    pub(crate) async fn compare_the_whole(&self) -> Result {
        for (number, job) in self.jobs.iter().enumerate() {
            self.compare_log(job.id).await?;
            let shown = self.subject.job(number).await?;
            differ(format!("job {} alone", job.id), &Some(job.clone()), &shown)?;
        }
        Ok(())
    }

    async fn compare_log(&self, job: JobId) -> Result {
        let log = self.memory.log(job).await?;
        let shown = self.subject.log(job).await?;
        differ(format!("the log of job {job}"), &log, &shown)
    }
}

/// An error that shows the lines in which two values differ, or none.
fn differ<T: PartialEq + Debug>(what: impl Display, memory: &T, subject: &T) -> Result {
    if memory == subject {
        return Ok(());
    }
    let (memory, subject) = (format!("{memory:#?}"), format!("{subject:#?}"));
    let (memory, subject): (Vec<_>, Vec<_>) = (memory.lines().collect(), subject.lines().collect());
    let equal = memory.iter().zip(&subject);
    let first = equal.take_while(|(one, other)| one == other).count();
    let equal = memory[first..]
        .iter()
        .rev()
        .zip(subject[first..].iter().rev());
    let last = equal.take_while(|(one, other)| one == other).count();
    let shown = |lines: &[&str]| {
        let from = first.saturating_sub(LINES_BEFORE);
        lines[from..lines.len() - last].join("\n")
    };
    let (memory, subject) = (shown(&memory), shown(&subject));
    Err(format!("{what} in memory:\n{memory}\nin the subject:\n{subject}").into())
}

fn text(log: &[LogEntry]) -> String {
    let lines = log.iter().map(|entry| {
        let LogEntry { at, worker, event } = entry;
        let by = worker.map_or("nobody".to_owned(), |worker| format!("worker {worker}"));
        format!("\n  {at} {by}: {event}")
    });
    lines.collect()
}
