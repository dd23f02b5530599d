//! The jobs of a history.

use std::time::Duration;

use warp_policy::declaration::Declared;
use warp_policy::precedence::{ExplicitPolicies, resolve};
use warp_policy::{ConcurrencySpec, Key, Mode, RateLimitSpec, Style, Timestamp, Window};
use warp_storage::model::{NewJob, Ready};

use crate::Result;
use crate::random::Random;

pub(crate) const KINDS: [&str; 3] = ["a", "b", "c"];
pub(crate) const QUEUES: [&str; 2] = ["default", "mail"];

/// The payload of a job that no resolver can resolve.
pub(crate) const UNRESOLVABLE: &str = "\"unresolvable\"";

/// More lanes than a turn reads of a line.
const LONG_LINE: usize = 80;

/// The policies of one history: several limits for a key, several styles and windows for another (R33), and one key of both families (R31).
pub(crate) struct Palette {
    slots: Vec<ConcurrencySpec>,
    rates: Vec<RateLimitSpec>,
    /// A key of its own for each lane of a long line.
    own: Vec<ConcurrencySpec>,
}

impl Palette {
    pub(crate) fn new(random: &mut Random) -> Result<Self> {
        let slots = (0..3 + random.below(4)).map(|_| slot(random));
        let slots = slots.collect::<Result<_>>()?;
        let rates = (0..=random.below(5)).map(|_| rate(random));
        let rates = rates.collect::<Result<_>>()?;
        let own = (0..LONG_LINE).map(|number| {
            let key = Key::new(format!("own{number}"))?;
            Ok(ConcurrencySpec::mutex(key).with_mode(Mode::Wait))
        });
        let own = own.collect::<Result<_>>()?;
        Ok(Self { slots, rates, own })
    }

    /// A stamp from a foreign hand: one that cannot be read, or says nothing, or names other keys than the job's lane.
    pub(crate) fn damage(&self, random: &mut Random) -> Result<String> {
        let text = random.one_of(&["{", "[]", "{\"v\":99}", "{\"v\":1}", ""]);
        if !text.is_empty() {
            return Ok(text.to_owned());
        }
        let explicit = ExplicitPolicies {
            concurrency: Some(self.own[0].clone()),
            rate_limits: Vec::new(),
        };
        let stamp = resolve(&explicit, &Declared::NONE, &Declared::NONE, &())?;
        Ok(serde_json::to_string(&stamp)?)
    }

    /// A batch of any shape, now and then an empty one.
    pub(crate) fn some(&self, random: &mut Random, now: Timestamp) -> Vec<NewJob> {
        (0..random.below(6))
            .map(|_| self.any(random, now))
            .collect()
    }

    /// Jobs of one kind and policy, as a backlog has them.
    pub(crate) fn alike(&self, random: &mut Random, now: Timestamp) -> Vec<NewJob> {
        vec![self.any(random, now); 2 + random.below(12)]
    }

    /// Jobs of one rate, each in a lane of its own.
    pub(crate) fn long_line(&self, random: &mut Random, now: Timestamp) -> Vec<NewJob> {
        let rate = &self.rates[0];
        let job = |slot: &ConcurrencySpec| NewJob {
            explicit: ExplicitPolicies {
                concurrency: Some(slot.clone()),
                rate_limits: vec![rate.clone().with_mode(Mode::Wait)],
            },
            ready: Ready::Now,
            ..self.any(random, now)
        };
        self.own.iter().map(job).collect()
    }

    fn any(&self, random: &mut Random, now: Timestamp) -> NewJob {
        let mut explicit = ExplicitPolicies::default();
        if !random.one_in(3) {
            let slot = &self.slots[random.below(self.slots.len())];
            explicit.concurrency = Some(slot.clone());
        }
        for rate in &self.rates {
            let limits = &explicit.rate_limits;
            let is_new = limits.iter().all(|limit| limit.key() != rate.key());
            if is_new && random.one_in(4) {
                explicit.rate_limits.push(rate.clone());
            }
        }
        let ready = match random.below(12) {
            0 => Ready::In(random.millis(3_000)),
            1 => Ready::In(Duration::from_micros(random.below(50) as u64)),
            2 => Ready::At(now.plus(random.millis(10_000))),
            3 => Ready::At(now.minus(random.millis(10_000))),
            _ => Ready::Now,
        };
        let payload = match random.below(40) {
            0 => UNRESOLVABLE,
            1..5 => "{\"to\":\"Zoë's 5% \\u0000\"}",
            _ => "null",
        };
        if payload == UNRESOLVABLE && explicit.is_empty() {
            // Nobody need ask the resolver about a job without policies.
            explicit.concurrency = Some(self.slots[0].clone());
        }
        let priority = match random.below(40) {
            0 => i32::MAX,
            1 => i32::MIN,
            _ => random.one_of(&[0, 0, 0, 1, -1]),
        };
        NewJob {
            kind: random.one_of(&KINDS).into(),
            queue: random.one_of(&["default", "default", "mail"]).into(),
            payload: payload.to_owned(),
            priority,
            ready,
            explicit,
        }
    }
}

fn slot(random: &mut Random) -> Result<ConcurrencySpec> {
    let key = Key::new(random.one_of(&["k0", "k1", "k2"]))?;
    let spec = match random.one_of(&[0, 1, 1, 2, 3]) {
        0 => ConcurrencySpec::mutex(key),
        limit => ConcurrencySpec::semaphore(key, limit)?,
    };
    Ok(spec.with_mode(mode(random)))
}

fn rate(random: &mut Random) -> Result<RateLimitSpec> {
    let key = Key::new(random.one_of(&["r0", "r1", "k0"]))?;
    let window = Window::from_seconds(random.one_of(&[1, 5, 5, 60, 3_600]))?;
    let style = random.one_of(&[Style::Fixed, Style::Sliding, Style::TokenBucket]);
    let count = random.one_of(&[1, 2, 3, 7]);
    let spec = RateLimitSpec::new(key, count, window)?;
    Ok(spec.with_mode(mode(random)).with_style(style)?)
}

fn mode(random: &mut Random) -> Mode {
    random.one_of(&[Mode::Wait, Mode::Wait, Mode::Wait, Mode::Skip])
}
