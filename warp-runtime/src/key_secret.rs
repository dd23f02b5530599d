//! The secret behind `{field|hash}` (R30).

use std::fmt::{self, Write};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;
use warp_policy::key::FieldHash;

/// The shortest secret, in bytes.
const MIN_SECRET_BYTES: usize = 16;
/// What is hashed to tell one secret from another: nothing that a field could hold by accident.
const FINGERPRINT_OF: &str = "warp: the fingerprint of the secret for keys";
/// How much of a hash stands in a key, in bytes: too much for two values to share one by accident.
const HASH_BYTES: usize = 16;

/// Hashes the fields of keys such as `"mail:{email|hash}"`, so that personal data reaches no log and no page (R30).
///
/// A value's hash is the same in every process and on every day, as long as the secret is: give one secret to all workers of a store. The store
/// keeps a fingerprint of it, and a worker with another one does not start: the same customer would have two keys, and limits be kept for each
/// by itself (R35). Without the secret nobody can tell, not even by trying, which value a hash stands for.
///
/// ```
/// use warp_runtime::prelude::*;
///
/// #[mutex("mail:{email|hash}", mode = "wait")]
/// #[derive(Serialize, Deserialize, Job)]
/// struct SendEmail {
///     email: String,
/// }
///
/// # struct Mailer;
/// # impl JobHandler<SendEmail> for Mailer {
/// #     async fn handle(&self, _job: SendEmail, _ctx: &JobContext) -> JobResult { Ok(()) }
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // From the place where the program has its other secrets.
/// let secret = KeySecret::new("2f0b6f5dbd9c4a7f8a61")?;
/// let worker = Worker::builder(Memory::new())
///     .handler::<SendEmail, _>(Mailer)
///     .key_secret(secret)
///     .build()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct KeySecret(Hmac<Sha256>);

/// A secret that could be guessed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the secret for keys is {bytes} bytes long; it takes at least {MIN_SECRET_BYTES} random ones"
)]
#[non_exhaustive]
pub struct KeySecretTooShort {
    /// Its length.
    pub bytes: usize,
}

impl KeySecret {
    /// A secret of at least 16 bytes.
    ///
    /// # Errors
    /// [`KeySecretTooShort`].
    ///
    /// # Panics
    /// Never: HMAC takes a key of any length.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, KeySecretTooShort> {
        let secret = secret.as_ref();
        if secret.len() < MIN_SECRET_BYTES {
            return Err(KeySecretTooShort {
                bytes: secret.len(),
            });
        }
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let hmac = Hmac::new_from_slice(secret).expect("a key of any length");
        Ok(Self(hmac))
    }

    /// What stands in a key for `value`: 32 hexadecimal digits of its HMAC-SHA-256. For explicit keys that are to be those of a template:
    /// `with_mutex(format!("mail:{}", secret.hash(&email)))`.
    pub fn hash(&self, value: impl fmt::Display) -> String {
        let mut hmac = self.0.clone();
        hmac.update(value.to_string().as_bytes());
        let hash = hmac.finalize().into_bytes();
        hash.iter()
            .take(HASH_BYTES)
            .fold(String::new(), |mut text, byte| {
                // Writing into a string cannot fail.
                _ = write!(text, "{byte:02x}");
                text
            })
    }
}

impl KeySecret {
    /// What tells this secret from any other, and nothing about it (R35).
    pub(crate) fn fingerprint(&self) -> String {
        self.hash(FINGERPRINT_OF)
    }
}

impl FieldHash for KeySecret {
    fn hash(&self, value: &str) -> String {
        Self::hash(self, value)
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R30: the first case of RFC 4231, so that no process and no release ever has another hash.
    #[test]
    fn a_hash_is_stable() {
        let secret = KeySecret::new([0x0b; 20]).expect("long enough");
        assert_eq!(secret.hash("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b");
        assert_ne!(
            KeySecret::new([0x0c; 20])
                .expect("long enough")
                .hash("Hi There"),
            secret.hash("Hi There")
        );
    }

    /// R30: a secret that could be guessed is none, and no secret is shown.
    #[test]
    fn a_short_secret_is_refused() {
        assert_eq!(
            KeySecret::new("0123456789abcde").err(),
            Some(KeySecretTooShort { bytes: 15 })
        );
        let secret = KeySecret::new("0123456789abcdef").expect("long enough");
        assert_eq!(format!("{secret:?}"), "KeySecret");
    }
}
