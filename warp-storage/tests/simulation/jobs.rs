//! The jobs of a world.

use std::collections::BTreeSet;
use std::time::Duration;

use warp_policy::precedence::ExplicitPolicies;
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Window};
use warp_storage::model::{NewJob, Ready};

use crate::Result;
use crate::random::Random;

pub(crate) const KINDS: [&str; 3] = ["a", "b", "c"];
pub(crate) const QUEUES: [&str; 2] = ["default", "mail"];

/// Every rate key has one size; what happens when it changes is the limiter's own test.
pub(crate) const RATES: [(&str, Style, u32, u64); 3] = [
    ("sliding", Style::Sliding, 3, 5),
    ("fixed", Style::Fixed, 2, 3),
    ("bucket", Style::TokenBucket, 4, 8),
];

/// Some jobs of any shape; or more lanes of one rate than a turn reads.
pub(crate) fn some(random: &mut Random) -> Result<Vec<NewJob>> {
    if random.one_in(300) {
        return (0..80)
            .map(|number| one_of_many_lanes(number, random))
            .collect();
    }
    (0..=random.below(4)).map(|_| any(random)).collect()
}

fn any(random: &mut Random) -> Result<NewJob> {
    let mut explicit = ExplicitPolicies::default();
    if !random.one_in(3) {
        let key = Key::new(random.one_of(&["k0", "k1", "k2"]))?;
        let limit = random.one_of(&[1, 1, 2, 3]);
        let spec = ConcurrencySpec::semaphore(key, limit)?.with_mode(mode(random));
        explicit.concurrency = Some(spec);
    }
    for index in 0..RATES.len() {
        if random.one_in(5) {
            explicit.rate_limits.push(rate(index, mode(random))?);
        }
    }
    let ready = match random.below(5) {
        0 => Ready::In(random.millis(3_000)),
        _ => Ready::Now,
    };
    Ok(NewJob {
        kind: random.one_of(&KINDS).into(),
        queue: random.one_of(&["default", "default", "mail"]).into(),
        payload: "null".to_owned(),
        priority: random.one_of(&[0, 0, 0, 1, -1]),
        ready,
        explicit,
    })
}

fn one_of_many_lanes(number: usize, random: &mut Random) -> Result<NewJob> {
    let key = Key::new(format!("own{number}"))?;
    Ok(NewJob {
        explicit: ExplicitPolicies {
            concurrency: Some(ConcurrencySpec::mutex(key).with_mode(Mode::Wait)),
            rate_limits: vec![rate(0, Mode::Wait)?],
        },
        ready: Ready::Now,
        ..any(random)?
    })
}

fn rate(index: usize, mode: Mode) -> Result<RateLimitSpec> {
    let (key, style, count, seconds) = RATES[index];
    let window = Window::from_duration(Duration::from_secs(seconds))?;
    let spec = RateLimitSpec::new(Key::new(key)?, count, window)?;
    Ok(spec.with_mode(mode).with_style(style)?)
}

fn mode(random: &mut Random) -> Mode {
    random.one_of(&[Mode::Wait, Mode::Wait, Mode::Wait, Mode::Skip])
}

/// The keys of a job, slots and tokens apart (R31).
pub(crate) fn keys(job: &NewJob) -> BTreeSet<String> {
    let slots = job.explicit.concurrency.iter();
    let tokens = job.explicit.rate_limits.iter();
    slots
        .map(|spec| format!("slot {}", spec.key()))
        .chain(tokens.map(|spec| format!("token {}", spec.key())))
        .collect()
}

/// The slots that a job demands where it demands any.
pub(crate) fn limit(job: &NewJob) -> u32 {
    let spec = job.explicit.concurrency.as_ref();
    spec.map_or(u32::MAX, ConcurrencySpec::limit)
}
