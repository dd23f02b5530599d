//! A PostgreSQL server that belongs to one test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::office::Outcome;
use super::place::without;

/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// A server of a test's own, which is gone once this is dropped.
#[derive(Debug)]
pub struct Server {
    /// Its address.
    pub url: String,
    programs: PathBuf,
    folder: TempDir,
    is_root: bool,
}

impl Server {
    /// Starts one, if its programs are installed here.
    pub fn start(test: &str) -> Outcome<Option<Self>> {
        let Some(programs) = programs() else {
            let what = "the programs of a PostgreSQL server are not installed";
            return without(test, what.to_owned());
        };
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            programs,
            folder: tempfile::tempdir()?,
            is_root: std::fs::metadata("/proc/self").is_ok_and(|us| is_of_root(&us)),
        };
        if server.is_root {
            let folder = server.folder.path();
            succeeds(Command::new("chown").arg("postgres").arg(folder))?;
        }
        succeeds(
            server
                .run("initdb")
                .args(["--username=postgres", "--auth=trust", "--no-sync"]),
        )?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        );
        succeeds(
            server
                .run("pg_ctl")
                .args(["start", "-w", "-l", "/dev/null", "-o"])
                .arg(options),
        )?;
        Ok(Some(server))
    }

    /// Stops it where it stands, as a crash does, and starts it again.
    pub fn crash_and_restart(&self) -> Outcome {
        succeeds(
            self.run("pg_ctl")
                .args(["restart", "-w", "-m", "immediate", "-l", "/dev/null"]),
        )
    }

    /// One of its programs, which do not run as root.
    fn run(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if self.is_root {
            let mut command = Command::new("setpriv");
            command
                .args([
                    "--reuid=postgres",
                    "--regid=postgres",
                    "--clear-groups",
                    "--",
                ])
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .env("PGDATA", self.folder.path().join("data"))
            .current_dir(self.folder.path());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = succeeds(self.run("pg_ctl").args(["stop", "-m", "immediate"]));
    }
}

/// The programs of the newest version, by name.
fn programs() -> Option<PathBuf> {
    let versions = Path::new(VERSIONS).read_dir().ok()?;
    let programs = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    programs.filter(|bin| bin.join("initdb").exists()).max()
}

fn is_of_root(us: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(us) == 0
}

/// Runs it, with nothing that it could inherit from the test and keep open.
fn succeeds(command: &mut Command) -> Outcome {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    Ok(())
}
