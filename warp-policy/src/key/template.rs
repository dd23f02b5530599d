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
    /// A field path: `["customer", "id"]` for `{customer.id}`, `["0"]` for `{0}`.
    Field(Vec<String>),
}

impl Template {
    /// Parses and checks a key text (R17, R30).
    ///
    /// # Errors
    /// [`PolicyError::KeyUnbalancedBrace`], [`PolicyError::KeyInvalidField`], and those of [`Key::new`](super::Key::new) for the
    /// fixed parts.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let template = Self {
            segments: split(text)?,
        };
        let fixed = template.fixed_text();
        if template.field_count() == 0 {
            check_text(&fixed)?;
        } else {
            check_length_and_characters(&fixed)?;
        }
        check_not_email(&fixed)?;
        Ok(template)
    }

    /// The pieces, in order; text never follows text.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many placeholders there are. From two on, their values are escaped (R34).
    pub fn field_count(&self) -> usize {
        self.segments
            .iter()
            .filter(|segment| matches!(segment, Segment::Field(_)))
            .count()
    }

    /// The text without its placeholders; the whole key where there are none.
    pub fn fixed_text(&self) -> String {
        self.segments
            .iter()
            .filter_map(|segment| match segment {
                Segment::Text(text) => Some(text.as_str()),
                Segment::Field(_) => None,
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
        segments.push(Segment::Field(field_path(placeholder)?));
        rest = after;
    }
    fixed.push_str(rest);
    if !fixed.is_empty() {
        segments.push(Segment::Text(fixed));
    }
    Ok(segments)
}

fn field_path(placeholder: &str) -> Result<Vec<String>, PolicyError> {
    let path: Vec<String> = placeholder
        .split('.')
        .map(|name| name.trim().to_owned())
        .collect();
    if path.iter().all(|name| is_field_name(name)) {
        Ok(path)
    } else {
        Err(PolicyError::KeyInvalidField {
            placeholder: placeholder.to_owned(),
        })
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
        Segment::Field(path.iter().map(|&name| name.into()).collect())
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
        assert_eq!(Template::parse("{0}-{_x1}")?.field_count(), 2);
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
        for placeholder in ["", "a b", "a..b", "1a", "a-b", "a|hash"] {
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
