//! The rungs, and the stamp that the winner leaves on the job's row (R20–R24).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::concurrency::ConcurrencySpec;
use crate::declaration::{Declared, Site, Subject};
use crate::error::PolicyError;
use crate::rate_limit::{RateLimitSpec, check_stack};

/// The version written into new stamps.
const STAMP_VERSION: u32 = 1;

/// Where a policy came from; the first rung that has a family gives the whole family (R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rung {
    /// Parameters given at enqueue.
    Explicit,
    /// The handler's declaration.
    Handler,
    /// The contract's declaration.
    Contract,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "explicit",
            Self::Handler => "handler",
            Self::Contract => "contract",
        })
    }
}

/// The policies given at enqueue, for each family by itself (R24).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExplicitPolicies {
    /// `with_mutex` or `with_semaphore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<ConcurrencySpec>,
    /// Every `with_rate_limit`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_limits: Vec<RateLimitSpec>,
}

impl ExplicitPolicies {
    /// Holds them to the rules that span several policies (R15, R24).
    ///
    /// # Errors
    /// [`PolicyError::RateLimitTwice`], [`PolicyError::TooManyRateLimits`].
    pub fn check(&self) -> Result<(), PolicyError> {
        check_stack(self.rate_limits.iter().map(|limit| limit.key().as_str()))
    }

    /// Whether no family is given.
    pub fn is_empty(&self) -> bool {
        self.concurrency.is_none() && self.rate_limits.is_empty()
    }
}

/// The policies a job follows, with rendered keys, as written on its row at its first judgement (R21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    #[serde(rename = "v", deserialize_with = "known_version")]
    version: u32,
    /// The concurrency family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Stamped<ConcurrencySpec>>,
    /// The rate limit family; each key once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_limits: Vec<Stamped<RateLimitSpec>>,
}

/// A policy with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped<S> {
    /// The policy.
    pub spec: S,
    /// The rung that gave it.
    pub rung: Rung,
    /// Where it was declared; explicit policies have no place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Site<String>>,
}

impl Stamp {
    /// The stamp of a job without policies.
    pub const fn none() -> Self {
        Self {
            version: STAMP_VERSION,
            concurrency: None,
            rate_limits: Vec::new(),
        }
    }

    /// Whether the job has no policy at all, so that nothing is looked up for it (R47).
    pub fn is_none(&self) -> bool {
        self.concurrency.is_none() && self.rate_limits.is_empty()
    }
}

/// Resolves what `job` follows: explicit → handler → contract, for each family by itself; rungs never merge (R20).
///
/// Runs the user's `Display` for the fields of key templates.
///
/// # Errors
/// What rendering a key can return (R32), and [`PolicyError::RateLimitTwice`] where two templates gave one key.
pub fn resolve<'a>(
    explicit: &ExplicitPolicies,
    handler: &Declared,
    contract: &Declared,
    job: impl Into<Subject<'a>>,
) -> Result<Stamp, PolicyError> {
    let job = job.into();
    let stamp = Stamp {
        version: STAMP_VERSION,
        concurrency: resolve_concurrency(explicit, handler, contract, job)?,
        rate_limits: resolve_rate_limits(explicit, handler, contract, job)?,
    };
    check_stack(
        stamp
            .rate_limits
            .iter()
            .map(|limit| limit.spec.key().as_str()),
    )?;
    Ok(stamp)
}

fn resolve_concurrency(
    explicit: &ExplicitPolicies,
    handler: &Declared,
    contract: &Declared,
    job: Subject<'_>,
) -> Result<Option<Stamped<ConcurrencySpec>>, PolicyError> {
    if let Some(spec) = &explicit.concurrency {
        return Ok(Some(Stamped {
            spec: spec.clone(),
            rung: Rung::Explicit,
            site: None,
        }));
    }
    for (rung, declared) in [(Rung::Handler, handler), (Rung::Contract, contract)] {
        if let Some(declaration) = declared.concurrency {
            let spec = declaration.spec(job)?;
            return Ok(Some(Stamped {
                spec,
                rung,
                site: stored_site(declaration.site()),
            }));
        }
    }
    Ok(None)
}

fn resolve_rate_limits(
    explicit: &ExplicitPolicies,
    handler: &Declared,
    contract: &Declared,
    job: Subject<'_>,
) -> Result<Vec<Stamped<RateLimitSpec>>, PolicyError> {
    if !explicit.rate_limits.is_empty() {
        let stamped = |spec: &RateLimitSpec| Stamped {
            spec: spec.clone(),
            rung: Rung::Explicit,
            site: None,
        };
        return Ok(explicit.rate_limits.iter().map(stamped).collect());
    }
    for (rung, declared) in [(Rung::Handler, handler), (Rung::Contract, contract)] {
        let stamped: Result<Vec<_>, PolicyError> = declared
            .rate_limits()
            .map(|declaration| {
                Ok(Stamped {
                    spec: declaration.spec(job)?,
                    rung,
                    site: stored_site(declaration.site()),
                })
            })
            .collect();
        let stamped = stamped?;
        if !stamped.is_empty() {
            return Ok(stamped);
        }
    }
    Ok(Vec::new())
}

#[expect(clippy::unnecessary_wraps, reason = "the stamp's field is optional")]
fn stored_site(site: Site) -> Option<Site<String>> {
    Some(Site {
        file: site.file.to_owned(),
        line: site.line,
    })
}

fn known_version<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == STAMP_VERSION {
        return Ok(version);
    }
    Err(serde::de::Error::custom(format!(
        "the stamp has version {version}; this program reads version {STAMP_VERSION}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::{ConcurrencyDeclaration, KeyDeclaration, RateLimitDeclaration};
    use crate::key::Key;
    use crate::mode::Mode;
    use crate::rate_limit::{Style, Window};

    const SITE: Site = Site {
        file: "jobs.rs",
        line: 7,
    };
    static MUTEX: ConcurrencyDeclaration =
        ConcurrencyDeclaration::new(KeyDeclaration::Fixed("contract"), 1, Mode::Skip, SITE);
    static SEMAPHORE: ConcurrencyDeclaration =
        ConcurrencyDeclaration::new(KeyDeclaration::Fixed("handler"), 3, Mode::Wait, SITE);
    static RATE: RateLimitDeclaration = RateLimitDeclaration::new(
        KeyDeclaration::Fixed("rate"),
        10,
        60_000_000,
        Mode::Wait,
        Style::Sliding,
        SITE,
    );
    static OTHER_RATE: RateLimitDeclaration = RateLimitDeclaration::new(
        KeyDeclaration::Fixed("other"),
        10,
        60_000_000,
        Mode::Wait,
        Style::Fixed,
        SITE,
    );

    fn declared(
        concurrency: Option<&'static ConcurrencyDeclaration>,
        rates: &[&'static RateLimitDeclaration],
    ) -> Declared {
        let mut declared = Declared {
            concurrency,
            ..Declared::NONE
        };
        for (slot, rate) in declared.rate_limits.iter_mut().zip(rates) {
            *slot = Some(rate);
        }
        declared
    }

    fn explicit(key: &str) -> ExplicitPolicies {
        let key = Key::new(key).unwrap();
        let window = Window::from_seconds(1).unwrap();
        ExplicitPolicies {
            concurrency: Some(ConcurrencySpec::mutex(key.clone())),
            rate_limits: vec![RateLimitSpec::new(key, 1, window).unwrap()],
        }
    }

    /// R20: every combination of rungs, for each family by itself.
    #[test]
    fn the_first_rung_that_has_the_family_gives_the_whole_family() {
        for bits in 0..8 {
            let [has_explicit, has_handler, has_contract] =
                [bits & 1, bits & 2, bits & 4].map(|bit| bit != 0);
            let handler = if has_handler {
                declared(Some(&SEMAPHORE), &[&RATE])
            } else {
                Declared::NONE
            };
            let contract = if has_contract {
                declared(Some(&MUTEX), &[&OTHER_RATE, &RATE])
            } else {
                Declared::NONE
            };
            let explicit = if has_explicit {
                explicit("explicit")
            } else {
                ExplicitPolicies::default()
            };
            let stamp = resolve(&explicit, &handler, &contract, &()).unwrap();

            let expected = match (has_explicit, has_handler, has_contract) {
                (true, ..) => Some((Rung::Explicit, "explicit", 1)),
                (_, true, _) => Some((Rung::Handler, "handler", 1)),
                (_, _, true) => Some((Rung::Contract, "contract", 2)),
                _ => None,
            };
            let found = stamp
                .concurrency
                .as_ref()
                .map(|s| (s.rung, s.spec.key().as_str(), stamp.rate_limits.len()));
            assert_eq!(found, expected);
            assert!(
                stamp
                    .rate_limits
                    .iter()
                    .all(|limit| Some(limit.rung) == expected.map(|e| e.0))
            );
        }
    }

    /// R20: a family that the handler does not declare still comes from the contract.
    #[test]
    fn families_are_resolved_by_themselves() {
        let stamp = resolve(
            &ExplicitPolicies::default(),
            &declared(Some(&SEMAPHORE), &[]),
            &declared(Some(&MUTEX), &[&RATE]),
            &(),
        )
        .unwrap();
        assert_eq!(stamp.concurrency.map(|s| s.rung), Some(Rung::Handler));
        assert_eq!(stamp.rate_limits[0].rung, Rung::Contract);
    }

    /// R21: the stamp records the rung and the declaration's file and line, and survives its row.
    #[test]
    fn a_stamp_reads_back_as_it_was_written() {
        let stamp = resolve(
            &ExplicitPolicies::default(),
            &Declared::NONE,
            &declared(Some(&MUTEX), &[&RATE, &OTHER_RATE]),
            &(),
        )
        .unwrap();
        assert_eq!(
            stamp
                .concurrency
                .as_ref()
                .unwrap()
                .site
                .as_ref()
                .unwrap()
                .to_string(),
            "jobs.rs:7"
        );
        let row = serde_json::to_string(&stamp).unwrap();
        assert_eq!(serde_json::from_str::<Stamp>(&row).unwrap(), stamp);
        assert_eq!(serde_json::to_string(&Stamp::none()).unwrap(), r#"{"v":1}"#);
    }

    /// R19: a stamp of an unknown version is an error, never read as "no policy".
    #[test]
    fn a_stamp_of_a_later_version_is_refused() {
        let error = serde_json::from_str::<Stamp>(r#"{"v":2}"#).unwrap_err();
        assert!(error.to_string().contains("version 2"), "{error}");
        assert!(serde_json::from_str::<Stamp>("{}").is_err());
    }

    /// R15: two templates that render one key are refused for that job.
    #[test]
    fn two_rate_limits_that_render_one_key_are_refused() {
        let twice = declared(None, &[&RATE, &RATE]);
        let error =
            resolve(&ExplicitPolicies::default(), &twice, &Declared::NONE, &()).unwrap_err();
        assert_eq!(error, PolicyError::RateLimitTwice { key: "rate".into() });
    }
}
