//! Keys: what a policy counts by (R30–R34).
//!
//! A key is fixed text or a [`Template`] whose fields are rendered for each job by a [`KeyWriter`].

mod template;
mod writer;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::template::{Segment, Template};
pub use self::writer::{FieldHash, KeyWriter};
use crate::error::PolicyError;

/// The longest key, in bytes of UTF-8 (R17, R32).
pub const MAX_KEY_BYTES: usize = 200;

/// A key as it is counted and stored: 1 to [`MAX_KEY_BYTES`] bytes, not blank, without control characters. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(Arc<str>);

impl Key {
    /// A key written by a person: an explicit parameter or an operator's command. It is taken literally, braces included (R34).
    ///
    /// # Errors
    /// [`PolicyError::KeyEmpty`], [`PolicyError::KeyTooLong`], [`PolicyError::KeyControlCharacter`],
    /// [`PolicyError::KeyLooksLikeEmail`].
    pub fn new(key: impl AsRef<str>) -> Result<Self, PolicyError> {
        let key = key.as_ref();
        check_text(key)?;
        check_not_email(key)?;
        Ok(Self(key.into()))
    }

    /// A key rendered from a template or read from a row. What its fields hold is not judged, its length and characters are (R32).
    ///
    /// # Errors
    /// [`PolicyError::KeyEmpty`], [`PolicyError::KeyTooLong`], [`PolicyError::KeyControlCharacter`].
    pub fn rendered(key: impl AsRef<str>) -> Result<Self, PolicyError> {
        let key = key.as_ref();
        check_text(key)?;
        Ok(Self(key.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Key {
    type Error = PolicyError;

    fn try_from(key: String) -> Result<Self, PolicyError> {
        Self::rendered(key)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.as_str().to_owned()
    }
}

fn check_text(key: &str) -> Result<(), PolicyError> {
    if key.trim().is_empty() {
        return Err(PolicyError::KeyEmpty);
    }
    check_length_and_characters(key)
}

fn check_length_and_characters(text: &str) -> Result<(), PolicyError> {
    if text.len() > MAX_KEY_BYTES {
        return Err(PolicyError::KeyTooLong { bytes: text.len() });
    }
    match text.chars().find(|character| character.is_control()) {
        Some(character) => Err(PolicyError::KeyControlCharacter { character }),
        None => Ok(()),
    }
}

/// Refuses `x@y.z`: keys appear in logs and dashboards (R17).
fn check_not_email(key: &str) -> Result<(), PolicyError> {
    let is_email = key.split_whitespace().any(|word| {
        word.split_once('@').is_some_and(|(user, host)| {
            let host_has_dot = host
                .split_once('.')
                .is_some_and(|(name, rest)| !name.is_empty() && !rest.is_empty());
            !user.is_empty() && host_has_dot
        })
    });
    if is_email {
        Err(PolicyError::KeyLooksLikeEmail)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R17, R32: 1 to 200 bytes, both boundaries.
    #[test]
    fn length_is_counted_in_bytes() {
        assert_eq!(Key::new(""), Err(PolicyError::KeyEmpty));
        assert_eq!(Key::new(" \u{a0}"), Err(PolicyError::KeyEmpty));
        assert!(Key::new("k").is_ok());
        assert!(Key::new("é".repeat(100)).is_ok());
        assert_eq!(
            Key::new("é".repeat(100) + "x"),
            Err(PolicyError::KeyTooLong { bytes: 201 })
        );
    }

    /// R17, R32: control characters never reach a key, by any door.
    #[test]
    fn control_characters_are_refused() {
        let error = PolicyError::KeyControlCharacter { character: '\n' };
        assert_eq!(Key::new("a\nb"), Err(error.clone()));
        assert_eq!(Key::rendered("a\nb"), Err(error));
        assert!(Key::rendered("a\u{85}b").is_err(), "C1 controls count too");
        assert!(serde_json::from_str::<Key>(r#""a\u0000b""#).is_err());
    }

    /// R17: personal data in a fixed or explicit key; a rendered one is the template's business.
    #[test]
    fn an_address_is_refused_where_a_person_wrote_it() {
        assert_eq!(
            Key::new("ann@example.org"),
            Err(PolicyError::KeyLooksLikeEmail)
        );
        assert_eq!(
            Key::new("mail to ann@example.org now"),
            Err(PolicyError::KeyLooksLikeEmail)
        );
        for fine in ["@handle", "user@host", "a@.b", "a@b.", "v1.2@"] {
            assert!(Key::new(fine).is_ok(), "{fine}");
        }
        assert!(Key::rendered("ann@example.org").is_ok());
    }

    /// R34: explicit keys are taken literally.
    #[test]
    fn braces_of_an_explicit_key_mean_nothing() {
        assert_eq!(Key::new("a{b}c").map(String::from), Ok("a{b}c".to_owned()));
    }
}
