//! Rendering the key of one job.

use std::fmt::{self, Display, Write};

use super::Key;
use crate::error::PolicyError;

/// Renders `{field|hash}`: one value gives one text, in every process that has the same secret (R30).
pub trait FieldHash {
    /// What stands in the key for `value`: no part of it can be read back.
    fn hash(&self, value: &str) -> String;
}

/// Collects the parts of one rendered key. Generated code feeds it in the order of the template.
pub struct KeyWriter<'a> {
    template: &'static str,
    text: String,
    escapes: &'static str,
    hash: Option<&'a dyn FieldHash>,
    /// The first thing that went wrong.
    error: Option<PolicyError>,
}

impl<'a> KeyWriter<'a> {
    /// A writer for `template`, which escapes these characters inside values, so that different values never give one key (R34), and
    /// hashes with `hash`.
    pub(crate) fn new(
        template: &'static str,
        escapes: &'static str,
        hash: Option<&'a dyn FieldHash>,
    ) -> Self {
        Self {
            template,
            text: String::new(),
            escapes,
            hash,
            error: None,
        }
    }

    /// Adds fixed text.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds the value of a field, as its `Display` writes it.
    pub fn field(&mut self, value: &dyn Display) {
        let mut escaped = Escaped {
            text: &mut self.text,
            escapes: self.escapes,
        };
        if write!(escaped, "{value}").is_err() {
            self.fail(|template| PolicyError::KeyFieldFailed { template });
        }
    }

    /// Adds the hash of a field's value.
    pub fn hashed_field(&mut self, value: &dyn Display) {
        let Some(hash) = self.hash else {
            self.fail(|template| PolicyError::KeySecretMissing { template });
            return;
        };
        let mut text = String::new();
        match write!(text, "{value}") {
            Ok(()) => self.field(&hash.hash(&text)),
            Err(_) => self.fail(|template| PolicyError::KeyFieldFailed { template }),
        }
    }

    /// The key.
    ///
    /// # Errors
    /// [`PolicyError::KeyFieldFailed`] where a field's `Display` returned an error, [`PolicyError::KeySecretMissing`], and those of
    /// [`Key::rendered`] (R32).
    pub(crate) fn finish(self) -> Result<Key, PolicyError> {
        match self.error {
            Some(error) => Err(error),
            None => Key::rendered(self.text),
        }
    }

    fn fail(&mut self, error: impl FnOnce(String) -> PolicyError) {
        let template = self.template;
        self.error.get_or_insert_with(|| error(template.to_owned()));
    }
}

impl fmt::Debug for KeyWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWriter")
            .field("template", &self.template)
            .finish_non_exhaustive()
    }
}

struct Escaped<'a> {
    text: &'a mut String,
    escapes: &'static str,
}

impl Write for Escaped<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for character in part.chars() {
            if self.escapes.contains(character) {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    write!(self.text, "%{byte:02X}")?;
                }
            } else {
                self.text.push(character);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Segment, Template};
    use super::*;

    /// The key of `template` with these values for its fields, whatever they are called.
    fn render(template: &'static str, values: &[&str]) -> String {
        let parsed = Template::parse(template).expect("a template");
        let mut writer = KeyWriter::new(template, parsed.escapes().leak(), None);
        let mut values = values.iter();
        for segment in parsed.segments() {
            match segment {
                Segment::Text(text) => writer.text(text),
                Segment::Field { .. } => writer.field(values.next().expect("a value")),
            }
        }
        writer.text
    }

    /// R34: different values never give one key, whatever separates the fields: all values of up to two signs.
    #[test]
    fn fields_never_collide() {
        for (template, sign) in [
            ("{a}:{b}:{c}", ":"),
            ("k/{a}/{b}/{c}", "/"),
            ("{a}-{b}x-{c}-", "-"),
            ("{a}:/{b}/:{c}", "/"),
            ("{a}%2F:{b}·{c}", "·"),
        ] {
            let signs = ["", sign, ":", "%", "x"];
            let pairs = signs
                .iter()
                .flat_map(|one| signs.map(|other| format!("{one}{other}")));
            let values: BTreeSet<String> = pairs.collect();
            let mut keys = BTreeSet::new();
            for a in &values {
                for b in &values {
                    for c in &values {
                        let key = render(template, &[a, b, c]);
                        assert!(keys.insert(key), "{template}: {a} {b} {c}");
                    }
                }
            }
        }
    }

    /// R34: values that move a separator about.
    #[test]
    fn a_separator_inside_a_value_is_escaped() {
        assert_eq!(render("{a}-{b}", &["x-y", "z"]), "x%2Dy-z");
        assert_eq!(render("{a}-{b}", &["x", "y-z:%"]), "x-y%2Dz%3A%25");
        assert_eq!(render("{a}·{b}", &["·", "b"]), "%C2%B7·b");
    }

    /// R34: a template with one field is not escaped.
    #[test]
    fn one_field_is_rendered_as_it_displays() {
        assert_eq!(render("k:{a}", &["x:y%"]), "k:x:y%");
    }

    /// R32: a key that came out too long or with control characters is an error, never cut.
    #[test]
    fn an_overlong_key_is_refused() {
        let mut writer = KeyWriter::new("{a}", "", None);
        writer.field(&"x".repeat(201));
        assert_eq!(writer.finish(), Err(PolicyError::KeyTooLong { bytes: 201 }));
    }

    /// R32: user code that fails is an error of that job, hashed or not.
    #[test]
    fn a_field_that_cannot_display_itself_is_an_error() {
        struct Broken;
        impl Display for Broken {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        let failed = PolicyError::KeyFieldFailed {
            template: "{a}".into(),
        };
        let mut writer = KeyWriter::new("{a}", "", None);
        writer.field(&Broken);
        assert_eq!(writer.finish(), Err(failed.clone()));
        let mut writer = KeyWriter::new("{a}", "", Some(&Length));
        writer.hashed_field(&Broken);
        assert_eq!(writer.finish(), Err(failed));
    }

    /// A hash that shows that it was asked.
    struct Length;

    impl FieldHash for Length {
        fn hash(&self, value: &str) -> String {
            format!("#{}", value.len())
        }
    }

    /// R30: only what stands for the value reaches the key; without a secret there is none.
    #[test]
    fn a_hashed_field_is_replaced() {
        let mut writer = KeyWriter::new("mail:{a|hash}", "", Some(&Length));
        writer.text("mail:");
        writer.hashed_field(&"ann@example.org");
        assert_eq!(writer.finish().map(String::from), Ok("mail:#15".to_owned()));

        let mut writer = KeyWriter::new("mail:{a|hash}", "", None);
        writer.text("mail:");
        writer.hashed_field(&"ann@example.org");
        assert_eq!(
            writer.finish(),
            Err(PolicyError::KeySecretMissing {
                template: "mail:{a|hash}".into()
            })
        );
    }
}
