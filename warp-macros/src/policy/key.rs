//! The key of an attribute.

use warp_policy::PolicyError;
use warp_policy::key::{Segment, Template};

use crate::args::{Args, Text};
use crate::diag::{self, Errors};

/// A key that keeps the rules (R17, R30).
pub(crate) struct Key {
    pub(crate) text: Text,
    pub(crate) template: Template,
}

impl Key {
    /// `None` after an error, or where there is no key.
    pub(crate) fn parse(args: &Args, errors: &mut Errors) -> Option<Self> {
        let text = args.key.clone()?;
        match Template::parse(&text.value).and_then(checked) {
            Ok(template) => Some(Self { text, template }),
            Err(error) => {
                errors.push(text, diag::rule(&error));
                None
            }
        }
    }

    /// The paths of the fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[String]> {
        self.template
            .segments()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Field { path, .. } => Some(path.as_slice()),
                Segment::Text(_) => None,
            })
    }
}

/// Refuses the names that the rulebook lets through and Rust does not.
fn checked(template: Template) -> Result<Template, PolicyError> {
    let invalid = template
        .segments()
        .iter()
        .find_map(|segment| match segment {
            Segment::Field { path, .. } if !path.iter().all(|name| is_member(name)) => {
                Some(path.join("."))
            }
            _ => None,
        });
    match invalid {
        Some(placeholder) => Err(PolicyError::KeyInvalidField { placeholder }),
        None => Ok(template),
    }
}

fn is_member(name: &str) -> bool {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) if first.is_ascii_digit() => name.parse::<u32>().is_ok(),
        Some(first) => {
            // These have no raw form, and none of them can be a field.
            let is_reserved = matches!(name, "_" | "self" | "Self" | "super" | "crate");
            let is_identifier = (first == '_' || unicode_ident::is_xid_start(first))
                && characters.all(unicode_ident::is_xid_continue);
            is_identifier && !is_reserved
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R17: whatever passes here becomes a token; what cannot be one would make the compiler stop in the macro.
    #[test]
    fn only_what_can_be_a_token_is_a_member() {
        for fine in ["x", "_x1", "type", "straße", "0", "4294967295"] {
            assert!(is_member(fine), "{fine}");
        }
        for wrong in [
            "",
            "_",
            "self",
            "Self",
            "super",
            "crate",
            "4294967296",
            "0x",
            "ͺ",
        ] {
            assert!(!is_member(wrong), "{wrong}");
        }
    }
}
