//! Files and folders that must not be written.
//!
//! Root may write everything. So where the tests run as root, a copy of this very program looks at the file as somebody else.

use std::error::Error;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use warp_storage::Sqlite;

type Outcome = Result<(), Box<dyn Error>>;

/// Who has no rights anywhere.
const NOBODY: u32 = 65_534;

/// Names the file that the other program is to open.
const FILE: &str = "WARP_TEST_READ_ONLY_FILE";

/// What the other program runs; alone it does nothing.
#[tokio::test]
async fn opened_by_somebody_else() {
    if let Ok(file) = std::env::var(FILE) {
        match Sqlite::open(file).await {
            Ok(_) => println!("it was opened"),
            Err(error) => println!("{error:?}\n{error}"),
        }
    }
}

/// What opening a file says to somebody who is not root.
fn opened_by_nobody(folder: &TempDir, file: &Path) -> Result<String, Box<dyn Error>> {
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe()?, &program)?;
    let mut command = Command::new(program);
    command
        .args([
            "--exact",
            "read_only::opened_by_somebody_else",
            "--nocapture",
        ])
        .env(FILE, file);
    if fs::metadata("/proc/self")?.uid() == 0 {
        command.uid(NOBODY);
    }
    Ok(String::from_utf8(command.output()?.stdout)?)
}

/// A folder that everybody may enter, with a file that has the tables.
async fn a_file() -> Result<(TempDir, std::path::PathBuf), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let file = folder.path().join("jobs.db");
    Sqlite::open(&file).await?.close().await?;
    Ok((folder, file))
}

#[tokio::test]
async fn a_file_that_must_not_be_written_is_named() -> Outcome {
    let (folder, file) = a_file().await?;
    fs::set_permissions(&file, Permissions::from_mode(0o444))?;
    // The folder may be written, so that nothing but the file stands in the way.
    let writable = folder.path().join("writable");
    fs::create_dir(&writable)?;
    fs::set_permissions(&writable, Permissions::from_mode(0o777))?;
    let file_there = writable.join("jobs.db");
    fs::rename(&file, &file_there)?;
    let said = opened_by_nobody(&folder, &file_there)?;
    assert!(
        said.contains("ReadOnly") && said.contains("jobs.db cannot be written"),
        "{said}"
    );
    Ok(())
}

#[tokio::test]
async fn a_folder_that_must_not_be_written_is_named() -> Outcome {
    let (folder, file) = a_file().await?;
    let said = opened_by_nobody(&folder, &file)?;
    assert!(said.contains("jobs.db cannot be"), "{said}");
    let said = opened_by_nobody(&folder, &folder.path().join("new.db"))?;
    assert!(
        said.contains("CannotOpen") && said.contains("new.db cannot be opened"),
        "{said}"
    );
    Ok(())
}
