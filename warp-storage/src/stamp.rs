//! Stamps as rows hold them: text, which may have been damaged (R21, R22).

use warp_policy::Stamp;

/// Why a waiting job fails whose stamp asks for something else than its lane waits for.
pub(crate) const OTHER_KEYS: &str = "the stamp on the job's row names other keys than its lane";

/// The stamp, or why its job has to fail.
pub(crate) fn read(text: &str) -> Result<Stamp, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the stamp on the job's row cannot be read: {error}"))
}
