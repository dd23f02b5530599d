//! "did you mean".

/// The candidate that `written` most likely stands for: a few typing errors away, and few for its length.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = written.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&written, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, candidate)| distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R18: near misses are suggested, other words are not.
    #[test]
    fn only_near_misses_are_suggested() {
        let names = ["count", "per_seconds", "per", "mode", "style"];
        assert_eq!(nearest("per_second", names), Some("per_seconds"));
        assert_eq!(nearest("conut", names), Some("count"));
        assert_eq!(nearest("Mode", names), Some("mode"));
        assert_eq!(nearest("max_concurrent", names), None);
        assert_eq!(nearest("", names), None);
    }
}
