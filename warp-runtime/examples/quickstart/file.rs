//! The file that the jobs are kept in.

use std::error::Error;
use std::path::PathBuf;

use tempfile::TempDir;
use warp_runtime::storage::Store;
use warp_runtime::storage::model::{JobFilter, JobState};
use warp_runtime::{JobId, Sqlite};

/// An open file; one of its own folder, which goes with it, or one that stays.
pub(crate) struct File {
    pub(crate) storage: Sqlite,
    folder: Option<TempDir>,
}

impl File {
    pub(crate) async fn open(keep: Option<PathBuf>) -> Result<Self, Box<dyn Error>> {
        let folder = keep.is_none().then(tempfile::tempdir).transpose()?;
        let in_folder = folder.as_ref().map(|folder| folder.path().join("jobs.db"));
        let path = keep.or(in_folder).unwrap_or_default();
        let storage = Sqlite::open(path).await?;
        Ok(Self { storage, folder })
    }

    /// The jobs of these kinds that an earlier run left, by ascending id.
    pub(crate) async fn unfinished(&self, kinds: &[&str]) -> Result<Vec<JobId>, Box<dyn Error>> {
        let mut ids = Vec::new();
        for state in [
            JobState::Scheduled,
            JobState::Enqueued,
            JobState::Waiting,
            JobState::Processing,
        ] {
            let filter = JobFilter {
                state: Some(state),
                limit: usize::MAX,
                ..JobFilter::default()
            };
            ids.extend(
                self.storage
                    .jobs(filter)
                    .await?
                    .into_iter()
                    .filter(|job| kinds.contains(&&*job.kind))
                    .map(|job| job.id),
            );
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// What becomes of jobs that have not ended.
    pub(crate) fn what_stays(&self) -> &'static str {
        match self.folder {
            Some(_) => "what is left goes with the file; `--keep jobs.db` would keep it",
            None => "what is left stays in the file",
        }
    }

    /// Closes the file, and removes it unless it is to stay.
    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        self.storage.close().await?;
        if let Some(folder) = self.folder {
            folder.close()?;
        }
        Ok(())
    }
}
