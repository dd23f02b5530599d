//! One run of a handler.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

use crate::contract::Job;
use crate::handler::JobHandler;
use crate::job_context::JobContext;

/// The longest error text that is stored, in bytes.
const MAX_ERROR_BYTES: usize = 8 * 1024;

/// How an attempt ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The handler returned `Ok`.
    Succeeded,
    /// The handler returned `Err` or panicked; another attempt may help.
    Failed(String),
    /// The payload cannot be read; no attempt can help.
    Unreadable(String),
}

/// Runs one attempt; panics are failures (R52).
pub(super) async fn attempt<J: Job, H: JobHandler<J>>(
    parse: impl FnOnce() -> Result<J, String> + Send,
    handler: Arc<H>,
    context: JobContext,
) -> Outcome {
    let run = async {
        let job = match parse() {
            Ok(job) => job,
            Err(error) => return Outcome::Unreadable(storable(&error)),
        };
        match handler.handle(job, &context).await {
            Ok(()) => Outcome::Succeeded,
            Err(error) => Outcome::Failed(storable(&error.to_string())),
        }
    };
    match AssertUnwindSafe(run).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(panic) => Outcome::Failed(storable(&format!("panicked: {}", panic_text(panic)))),
    }
}

/// What a panic said. A payload that is no text is not dropped: its `Drop` is user code, which may panic in its turn.
pub(super) fn panic_text(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<String>() {
        Ok(text) => return *text,
        Err(panic) => panic,
    };
    match panic.downcast::<&'static str>() {
        Ok(text) => (*text).to_owned(),
        Err(panic) => {
            std::mem::forget(panic);
            "no message".to_owned()
        }
    }
}

/// A text that every store takes: no NUL, and not endless (R85).
pub(crate) fn storable(text: &str) -> String {
    let mut text = text.replace('\0', "\u{fffd}");
    if text.len() > MAX_ERROR_BYTES {
        let end = text.floor_char_boundary(MAX_ERROR_BYTES);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R85: what cannot be stored is replaced before it is tried.
    #[test]
    fn error_texts_are_made_storable() {
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
        let long = storable(&"é".repeat(MAX_ERROR_BYTES));
        assert_eq!(long.len(), MAX_ERROR_BYTES + "…".len());
    }

    #[test]
    fn a_panic_tells_its_message() {
        let panic = std::panic::catch_unwind(|| panic!("no {}", 7)).unwrap_err();
        assert_eq!(panic_text(panic), "no 7");
        let panic = std::panic::catch_unwind(|| panic!("no seven")).unwrap_err();
        assert_eq!(panic_text(panic), "no seven");
    }
}
