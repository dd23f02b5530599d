//! Rendering the key of one job.

use std::fmt::{self, Display, Write};

use super::Key;
use crate::error::PolicyError;

/// Collects the parts of one rendered key. Generated code feeds it in the order of the template.
#[derive(Debug)]
pub struct KeyWriter {
    template: &'static str,
    text: String,
    escapes: bool,
    failed: bool,
}

impl KeyWriter {
    /// A writer for `template`, which has `field_count` placeholders. From two on, `:` and `%` inside their values are escaped, so
    /// that different values never give one key (R34).
    pub fn new(template: &'static str, field_count: usize) -> Self {
        Self {
            template,
            text: String::new(),
            escapes: field_count > 1,
            failed: false,
        }
    }

    /// Adds fixed text.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds the value of a field, as its `Display` writes it.
    pub fn field(&mut self, value: &dyn Display) {
        let escapes = self.escapes;
        self.failed |= write!(
            Escaped {
                text: &mut self.text,
                escapes
            },
            "{value}"
        )
        .is_err();
    }

    /// The key.
    ///
    /// # Errors
    /// [`PolicyError::KeyFieldFailed`] where a field's `Display` returned an error, and those of [`Key::rendered`] (R32).
    pub fn finish(self) -> Result<Key, PolicyError> {
        if self.failed {
            return Err(PolicyError::KeyFieldFailed {
                template: self.template.to_owned(),
            });
        }
        Key::rendered(self.text)
    }
}

struct Escaped<'a> {
    text: &'a mut String,
    escapes: bool,
}

impl Write for Escaped<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if !self.escapes {
            self.text.push_str(part);
            return Ok(());
        }
        for character in part.chars() {
            match character {
                ':' => self.text.push_str("%3A"),
                '%' => self.text.push_str("%25"),
                other => self.text.push(other),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(left: &str, right: &str) -> String {
        let mut writer = KeyWriter::new("{a}:{b}", 2);
        writer.field(&left);
        writer.text(":");
        writer.field(&right);
        writer.text
    }

    proptest! {
        /// R34: different values of two fields never give one key.
        #[test]
        fn two_fields_never_collide(a in "[a:%0-9]{0,6}", b in "[a:%0-9]{0,6}", c in "[a:%0-9]{0,6}", d in "[a:%0-9]{0,6}") {
            prop_assert_eq!(pair(&a, &b) == pair(&c, &d), (a, b) == (c, d));
        }
    }

    /// R34: a template with one field is not escaped.
    #[test]
    fn one_field_is_rendered_as_it_displays() {
        let mut writer = KeyWriter::new("k:{a}", 1);
        writer.text("k:");
        writer.field(&"x:y%");
        assert_eq!(writer.finish().map(String::from), Ok("k:x:y%".to_owned()));
    }

    /// R32: a key that came out too long or with control characters is an error, never cut.
    #[test]
    fn an_overlong_key_is_refused() {
        let mut writer = KeyWriter::new("{a}", 1);
        writer.field(&"x".repeat(201));
        assert_eq!(writer.finish(), Err(PolicyError::KeyTooLong { bytes: 201 }));
    }

    /// R32: user code that fails is an error of that job.
    #[test]
    fn a_field_that_cannot_display_itself_is_an_error() {
        struct Broken;
        impl Display for Broken {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        let mut writer = KeyWriter::new("{a}", 1);
        writer.field(&Broken);
        assert_eq!(
            writer.finish(),
            Err(PolicyError::KeyFieldFailed {
                template: "{a}".into()
            })
        );
    }
}
