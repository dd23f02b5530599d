//! What a handler returns.

use std::error::Error;
use std::fmt;

/// What a handler returns.
pub type JobResult = Result<(), JobError>;

/// Why an attempt failed. Every type that implements [`Error`] converts into it, so `?` works in a handler; for a text of its own there
/// is [`JobError::new`]. What is stored is the text, with those of its sources.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// fn parse(text: &str) -> Result<u16, JobError> {
///     Ok(text.parse::<u16>()?)
/// }
///
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Debug)]
pub struct JobError {
    message: String,
}

impl JobError {
    /// An error with a text of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

// `JobError` is no `Error` itself: that would collide with the conversion from every other one.
impl<E: Error + Send + Sync + 'static> From<E> for JobError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self { message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] fmt::Error);

    #[test]
    fn the_text_names_every_cause() {
        let error = JobError::from(Outer(fmt::Error));
        assert_eq!(error.to_string(), format!("outer: {}", fmt::Error));
    }
}
