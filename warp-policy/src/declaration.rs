//! What an attribute leaves behind in the program: constants that the registry collects (R4, R5).

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::concurrency::ConcurrencySpec;
use crate::error::PolicyError;
use crate::key::{FieldHash, Key, KeyWriter};
use crate::mode::Mode;
use crate::rate_limit::{MAX_RATE_LIMITS, RateLimitSpec, Style, Window};

/// `#[mutex]` or `#[semaphore]` on one item.
#[derive(Debug)]
pub struct ConcurrencyDeclaration {
    key: KeyDeclaration,
    limit: u32,
    mode: Mode,
    site: Site,
}

impl ConcurrencyDeclaration {
    /// What the macros emit; they have checked the values.
    pub const fn new(key: KeyDeclaration, limit: u32, mode: Mode, site: Site) -> Self {
        Self {
            key,
            limit,
            mode,
            site,
        }
    }

    /// The key as declared.
    pub const fn key(&self) -> &KeyDeclaration {
        &self.key
    }

    /// Slots of the key.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// What happens to a job that finds no slot.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Where the attribute stands.
    pub const fn site(&self) -> Site {
        self.site
    }

    /// The policy of one job.
    ///
    /// # Errors
    /// What rendering the key can return (R32).
    pub fn spec<'a>(&self, job: impl Into<Subject<'a>>) -> Result<ConcurrencySpec, PolicyError> {
        let key = self.key.render(job.into())?;
        Ok(ConcurrencySpec::semaphore(key, self.limit)?.with_mode(self.mode))
    }
}

/// One `#[rate_limit]` on one item.
#[derive(Debug)]
pub struct RateLimitDeclaration {
    key: KeyDeclaration,
    count: u32,
    window_micros: u64,
    mode: Mode,
    style: Style,
    site: Site,
}

impl RateLimitDeclaration {
    /// What the macros emit; they have checked the values.
    pub const fn new(
        key: KeyDeclaration,
        count: u32,
        window_micros: u64,
        mode: Mode,
        style: Style,
        site: Site,
    ) -> Self {
        Self {
            key,
            count,
            window_micros,
            mode,
            style,
            site,
        }
    }

    /// The key as declared.
    pub const fn key(&self) -> &KeyDeclaration {
        &self.key
    }

    /// Starts per window.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The window in microseconds.
    pub const fn window_micros(&self) -> u64 {
        self.window_micros
    }

    /// How starts are counted.
    pub const fn style(&self) -> Style {
        self.style
    }

    /// What happens to a job that finds no token.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Where the attribute stands.
    pub const fn site(&self) -> Site {
        self.site
    }

    /// The policy of one job.
    ///
    /// # Errors
    /// What rendering the key can return (R32).
    pub fn spec<'a>(&self, job: impl Into<Subject<'a>>) -> Result<RateLimitSpec, PolicyError> {
        let window = Window::try_from(self.window_micros)?;
        RateLimitSpec::new(self.key.render(job.into())?, self.count, window)?
            .with_mode(self.mode)
            .with_style(self.style)
    }
}

/// The key of a declaration.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_enums,
    reason = "generated code builds it; both sides are released in lockstep"
)]
pub enum KeyDeclaration {
    /// The same key for every job.
    Fixed(&'static str),
    /// A key rendered for each job.
    Template {
        /// As written in the attribute.
        text: &'static str,
        /// The characters that are escaped in values (R34).
        escapes: &'static str,
        /// Whether there is a `{field|hash}`.
        has_hashes: bool,
        /// Feeds the parts to the writer. `None` where the job is of another type.
        render: fn(&dyn Any, &mut KeyWriter<'_>) -> Option<()>,
    },
}

impl KeyDeclaration {
    /// As written in the attribute (braces of a fixed key are already single).
    pub const fn text(&self) -> &'static str {
        match self {
            Self::Fixed(text) | Self::Template { text, .. } => text,
        }
    }

    /// Whether rendering it needs a secret.
    pub const fn has_hashes(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Template { has_hashes, .. } => *has_hashes,
        }
    }

    /// The key of one job.
    ///
    /// # Errors
    /// [`PolicyError::KeyForeignContract`] for a job of another type, [`PolicyError::KeyFieldFailed`],
    /// [`PolicyError::KeySecretMissing`], and those of [`Key::rendered`] (R32).
    fn render(&self, job: Subject<'_>) -> Result<Key, PolicyError> {
        match *self {
            Self::Fixed(text) => Key::rendered(text),
            Self::Template {
                text,
                escapes,
                render,
                ..
            } => {
                let mut writer = KeyWriter::new(text, escapes, job.hash);
                render(job.job, &mut writer).ok_or_else(|| PolicyError::KeyForeignContract {
                    template: text.to_owned(),
                })?;
                writer.finish()
            }
        }
    }
}

impl fmt::Debug for KeyDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text(), f)
    }
}

/// The job whose keys are rendered, and what hashes its fields.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    job: &'a dyn Any,
    hash: Option<&'a dyn FieldHash>,
}

impl<'a> Subject<'a> {
    /// A job whose `{field|hash}` is rendered by `hash`.
    pub const fn new(job: &'a dyn Any, hash: Option<&'a dyn FieldHash>) -> Self {
        Self { job, hash }
    }
}

impl<'a, J: Any> From<&'a J> for Subject<'a> {
    /// Without a secret, hence for keys that hash nothing.
    fn from(job: &'a J) -> Self {
        Self::new(job, None)
    }
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}

/// Where an attribute stands in the source (R4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site<F = &'static str> {
    /// As `file!()` gives it.
    pub file: F,
    /// As `line!()` gives it, from 1.
    pub line: u32,
}

impl<F: fmt::Display> fmt::Display for Site<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// All declarations of one item, as its type carries them (R4, R5).
#[derive(Clone, Copy, Debug, Default)]
pub struct Declared {
    /// `#[mutex]` or `#[semaphore]`.
    pub concurrency: Option<&'static ConcurrencyDeclaration>,
    /// Every `#[rate_limit]`; the bottom one of the item has index 0.
    pub rate_limits: [Option<&'static RateLimitDeclaration>; MAX_RATE_LIMITS],
}

impl Declared {
    /// An item without policies.
    pub const NONE: Self = Self {
        concurrency: None,
        rate_limits: [None; MAX_RATE_LIMITS],
    };

    /// Whether the item has no policy.
    pub fn is_empty(&self) -> bool {
        self.concurrency.is_none() && self.rate_limits().next().is_none()
    }

    /// The rate limits, in the order in which they stand on the item.
    pub fn rate_limits(&self) -> impl Iterator<Item = &'static RateLimitDeclaration> + use<> {
        self.rate_limits.into_iter().rev().flatten()
    }
}
