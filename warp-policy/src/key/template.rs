//! The text of a key in an attribute: fixed parts and `{field}` placeholders.

use super::{check_length_and_characters, check_not_email, check_text};
use crate::error::PolicyError;

/// A parsed key text: `"payment:{customer.id}"`. `{{` and `}}` are braces (R30).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    segments: Vec<Segment>,
}

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the macros match on every kind of segment"
)]
pub enum Segment {
    /// Text, with `{{` and `}}` already turned into braces.
    Text(String),
    /// A placeholder.
    Field {
        /// `["customer", "id"]` for `{customer.id}`, `["0"]` for `{0}`.
        path: Vec<String>,
        /// Whether its value is hashed: `{email|hash}`.
        is_hashed: bool,
    },
}

impl Template {
    /// Parses and checks a key text (R17, R30).
    ///
    /// # Errors
    /// [`PolicyError::KeyUnbalancedBrace`], [`PolicyError::KeyInvalidField`], [`PolicyError::KeyUnknownFilter`],
    /// [`PolicyError::KeyFieldsTouch`], and those of [`Key::new`](super::Key::new) for the fixed parts.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let template = Self {
            segments: split(text)?,
        };
        template.separators()?;
        let fixed = template.fixed_text();
        if template.has_fields() {
            check_length_and_characters(&fixed)?;
        } else {
            check_text(&fixed)?;
        }
        check_not_email(&fixed)?;
        Ok(template)
    }

    /// The pieces, in order; text never follows text.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether the key is different from job to job.
    pub fn has_fields(&self) -> bool {
        self.fields().next().is_some()
    }

    /// Whether there is a `{field|hash}`.
    pub fn has_hashes(&self) -> bool {
        self.fields().any(|(_, is_hashed)| is_hashed)
    }

    /// The characters that are escaped in the values of its fields: none where it has one field; else `%`, `:`, and what separates the
    /// fields (R34).
    pub fn escapes(&self) -> String {
        if self.fields().count() < 2 {
            return String::new();
        }
        let mut escapes = vec!['%', ':'];
        escapes.extend(self.separators().unwrap_or_default());
        escapes.sort_unstable();
        escapes.dedup();
        escapes.into_iter().collect()
    }

    /// For any two fields that follow each other the sign by which a reader knows where the first one ends. Values are escaped in
    /// letters, digits and `%`, hence none of these is such a sign.
    fn separators(&self) -> Result<Vec<char>, PolicyError> {
        let mut separators = Vec::new();
        // The last field, and the text behind it.
        let mut before: Option<(&[String], &str)> = None;
        for segment in &self.segments {
            match (segment, before) {
                (Segment::Text(text), Some((path, _))) => before = Some((path, text)),
                (Segment::Text(_), None) => {}
                (Segment::Field { path, .. }, before_it) => {
                    if let Some((first, text)) = before_it {
                        let sign = text
                            .chars()
                            .find(|sign| !sign.is_alphanumeric() && *sign != '%');
                        separators.push(sign.ok_or_else(|| PolicyError::KeyFieldsTouch {
                            first: first.join("."),
                            second: path.join("."),
                        })?);
                    }
                    before = Some((path, ""));
                }
            }
        }
        Ok(separators)
    }

    fn fields(&self) -> impl Iterator<Item = (&[String], bool)> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Field { path, is_hashed } => Some((path.as_slice(), *is_hashed)),
            Segment::Text(_) => None,
        })
    }

    /// The text without its placeholders; the whole key where there are none.
    pub fn fixed_text(&self) -> String {
        self.segments
            .iter()
            .filter_map(|segment| match segment {
                Segment::Text(text) => Some(text.as_str()),
                Segment::Field { .. } => None,
            })
            .collect()
    }
}

fn split(text: &str) -> Result<Vec<Segment>, PolicyError> {
    let mut segments = Vec::new();
    let mut fixed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        fixed.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            fixed.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            return Err(PolicyError::KeyUnbalancedBrace { brace: '}' });
        }
        let Some((placeholder, after)) = after.split_once('}') else {
            return Err(PolicyError::KeyUnbalancedBrace { brace: '{' });
        };
        if !fixed.is_empty() {
            segments.push(Segment::Text(std::mem::take(&mut fixed)));
        }
        segments.push(field(placeholder)?);
        rest = after;
    }
    fixed.push_str(rest);
    if !fixed.is_empty() {
        segments.push(Segment::Text(fixed));
    }
    Ok(segments)
}

fn field(placeholder: &str) -> Result<Segment, PolicyError> {
    let (path, filter) = match placeholder.split_once('|') {
        Some((path, filter)) => (path, Some(filter.trim())),
        None => (placeholder, None),
    };
    let path: Vec<String> = path.split('.').map(|name| name.trim().to_owned()).collect();
    if !path.iter().all(|name| is_field_name(name)) {
        return Err(PolicyError::KeyInvalidField {
            placeholder: placeholder.to_owned(),
        });
    }
    match filter {
        None | Some("hash") => Ok(Segment::Field {
            path,
            is_hashed: filter.is_some(),
        }),
        Some(filter) => Err(PolicyError::KeyUnknownFilter {
            filter: filter.to_owned(),
        }),
    }
}

/// An identifier, or the index of a tuple field.
fn is_field_name(name: &str) -> bool {
    let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let mut characters = name.chars();
    let is_identifier = characters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic())
        && characters.all(|character| character == '_' || character.is_alphanumeric());
    is_index || is_identifier
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Segment {
        Segment::Text(text.into())
    }

    fn field(path: &[&str]) -> Segment {
        Segment::Field {
            path: path.iter().map(|&name| name.into()).collect(),
            is_hashed: false,
        }
    }

    /// R30: fields, nested fields and doubled braces.
    #[test]
    fn fields_and_braces_are_told_apart() -> Result<(), PolicyError> {
        assert_eq!(
            Template::parse("payment:{customer.id}")?.segments(),
            [text("payment:"), field(&["customer", "id"])]
        );
        assert_eq!(
            Template::parse("{{a}}{b}{{{c}}}")?.segments(),
            [
                text("{a}"),
                field(&["b"]),
                text("{"),
                field(&["c"]),
                text("}")
            ]
        );
        assert_eq!(
            Template::parse("{0}-{_x1}")?.segments(),
            [field(&["0"]), text("-"), field(&["_x1"])]
        );
        Ok(())
    }

    /// R30: a hashed field; the filter has one spelling.
    #[test]
    fn a_filter_is_part_of_its_placeholder() -> Result<(), PolicyError> {
        let template = Template::parse("mail:{ customer.email | hash }")?;
        assert!(template.has_hashes());
        let Some(Segment::Field { path, is_hashed }) = template.segments().last() else {
            unreachable!("a field comes last");
        };
        assert_eq!(
            (path.join("."), *is_hashed),
            ("customer.email".into(), true)
        );
        assert!(!Template::parse("mail:{hash}")?.has_hashes());
        for filter in ["", "Hash", "hash|hash", "sha256"] {
            let error = PolicyError::KeyUnknownFilter {
                filter: filter.into(),
            };
            assert_eq!(Template::parse(&format!("{{a|{filter}}}")), Err(error));
        }
        Ok(())
    }

    /// R34: what separates two fields is escaped in their values, and there is something.
    #[test]
    fn fields_are_separated() -> Result<(), PolicyError> {
        let escapes = |text| Template::parse(text).map(|template| template.escapes());
        assert_eq!(escapes("k")?, "");
        assert_eq!(escapes("k:{a}/x")?, "");
        assert_eq!(escapes("{a}:{b}")?, "%:");
        assert_eq!(escapes("{a}/x{b}%20-{c}:{d}")?, "%-/:");
        assert_eq!(escapes("k/{a}{{{b}")?, "%:{");
        for text in ["{a}{b}", "k:{a}x{b}", "{a}%2F{b}", "{x}:{a}{b|hash}"] {
            let touch = matches!(
                Template::parse(text),
                Err(PolicyError::KeyFieldsTouch { .. })
            );
            assert!(touch, "{text}");
        }
        Ok(())
    }

    /// R17: unbalanced braces and placeholders that are no field.
    #[test]
    fn malformed_templates_are_refused() {
        assert_eq!(
            Template::parse("a{b"),
            Err(PolicyError::KeyUnbalancedBrace { brace: '{' })
        );
        assert_eq!(
            Template::parse("a}b"),
            Err(PolicyError::KeyUnbalancedBrace { brace: '}' })
        );
        for placeholder in ["", "a b", "a..b", "1a", "a-b", "|hash"] {
            let error = PolicyError::KeyInvalidField {
                placeholder: placeholder.into(),
            };
            assert_eq!(Template::parse(&format!("k{{{placeholder}}}")), Err(error));
        }
    }

    /// R17: the fixed part of a template counts, a template may consist of a field alone.
    #[test]
    fn the_fixed_part_is_held_to_the_rules_of_a_key() {
        assert!(Template::parse("{id}").is_ok());
        assert_eq!(Template::parse(" "), Err(PolicyError::KeyEmpty));
        assert!(Template::parse(&("x".repeat(200) + "{id}")).is_ok());
        assert_eq!(
            Template::parse(&("x".repeat(201) + "{id}")),
            Err(PolicyError::KeyTooLong { bytes: 201 })
        );
        assert_eq!(
            Template::parse("ann@example.org"),
            Err(PolicyError::KeyLooksLikeEmail)
        );
        assert_eq!(
            Template::parse("a\tb"),
            Err(PolicyError::KeyControlCharacter { character: '\t' })
        );
    }
}
