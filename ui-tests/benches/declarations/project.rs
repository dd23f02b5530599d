//! Crates that cargo builds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// A crate of its own in the target directory.
pub(crate) struct Project {
    directory: PathBuf,
}

/// A built program.
pub(crate) struct Program(PathBuf);

impl Project {
    /// Writes the crate `name`, with the versions of this workspace.
    pub(crate) fn create(name: &str, source: &str) -> Outcome<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("declarations")
            .join(name);
        fs::create_dir_all(directory.join("src"))?;
        fs::write(directory.join("src/main.rs"), source)?;
        fs::copy(workspace.join("Cargo.lock"), directory.join("Cargo.lock"))?;
        let runtime = workspace.join("warp-runtime");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n\
             warp-runtime = {{ path = '{}', default-features = false }}\n",
            runtime.display()
        );
        fs::write(directory.join("Cargo.toml"), manifest)?;
        Ok(Self { directory })
    }

    /// Runs cargo to its end.
    pub(crate) fn cargo(&self, command: &str) -> Outcome<Duration> {
        self.timed(&[command], "target")
    }

    /// Builds the crate itself once more, and nothing below it.
    pub(crate) fn rebuild(&self, command: &str) -> Outcome<Duration> {
        let main = self.directory.join("src/main.rs");
        fs::write(&main, fs::read(&main)?)?;
        self.cargo(command)
    }

    /// Builds the crate as a program to be run.
    pub(crate) fn program(&self) -> Outcome<Program> {
        self.timed(&["build", "--release"], "target")?;
        let name = self.directory.file_name().unwrap_or_default();
        Ok(Program(self.target("target").join("release").join(name)))
    }

    /// Builds one package and all it needs, from nothing.
    pub(crate) fn clean_build(&self, package: &str) -> Outcome<Duration> {
        let target = self.target("clean");
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        self.timed(&["build", "--package", package], "clean")
    }

    /// Shared by all crates, so that dependencies are built once.
    fn target(&self, name: &str) -> PathBuf {
        self.directory.with_file_name(name)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "builds are measured on the machine's clock"
    )]
    fn timed(&self, arguments: &[&str], target: &str) -> Outcome<Duration> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let begin = Instant::now();
        let status = Command::new(cargo)
            .args(arguments)
            .args(["--offline", "--quiet", "--target-dir"])
            .arg(self.target(target))
            .current_dir(&self.directory)
            .env("CARGO_INCREMENTAL", "0")
            .status()?;
        if status.success() {
            Ok(begin.elapsed())
        } else {
            Err(format!("cargo {arguments:?} failed in {}", self.directory.display()).into())
        }
    }
}

impl Program {
    /// Runs it: how long the whole process took, and what it says of its registry.
    #[expect(
        clippy::disallowed_methods,
        reason = "a start is measured on the machine's clock"
    )]
    pub(crate) fn run(&self) -> Outcome<(Duration, Duration)> {
        let begin = Instant::now();
        let output = Command::new(&self.0).stderr(Stdio::inherit()).output()?;
        let whole = begin.elapsed();
        let nanos = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok((whole, Duration::from_nanos(nanos)))
    }
}
