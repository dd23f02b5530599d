//! Several measurements of one thing.

/// Several measurements of one thing.
#[derive(Debug, Default)]
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    pub(crate) fn add(&mut self, value: f64) {
        let at = self.0.partition_point(|&other| other < value);
        self.0.insert(at, value);
    }

    /// The median, and from what to what they went.
    pub(crate) fn show(&self, digits: usize) -> String {
        match (self.0.first(), self.0.get(self.0.len() / 2), self.0.last()) {
            (Some(least), Some(median), Some(most)) => {
                format!("{median:.digits$} ({least:.digits$} – {most:.digits$})")
            }
            _ => "–".to_owned(),
        }
    }
}
