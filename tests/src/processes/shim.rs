//! A machine whose clock is wrong, for one process: a small library that is loaded before everything else.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::office::Outcome;
use super::place::without;

/// Moves the wall clock on; the clock that only measures goes as it goes.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) {
        now->tv_sec += AHEAD_SECONDS;
        now->tv_nsec += AHEAD_NANOS;
        if (now->tv_nsec >= 1000000000) {
            now->tv_nsec -= 1000000000;
            now->tv_sec += 1;
        }
    }
    return result;
}
"#;

/// Makes the wall clock of a process wrong.
#[derive(Debug)]
pub struct Shim {
    /// Where it is.
    pub path: PathBuf,
}

impl Shim {
    /// A clock that is ahead, if there is a C compiler to make one.
    pub fn ahead(by: Duration, folder: &Path, test: &str) -> Outcome<Option<Self>> {
        let source = folder.join("shim.c");
        let path = folder.join("shim.so");
        std::fs::write(&source, SOURCE)?;
        let made = Command::new("cc")
            .args(["-shared", "-fPIC"])
            .arg(format!("-DAHEAD_SECONDS={}", by.as_secs()))
            .arg(format!("-DAHEAD_NANOS={}", by.subsec_nanos()))
            .arg("-o")
            .args([&path, &source])
            .arg("-ldl")
            .status();
        match made {
            Ok(status) if status.success() => Ok(Some(Self { path })),
            made => without(test, format!("no clock could be made wrong: {made:?}")),
        }
    }
}
