//! R16, R60: defaults, boundaries, constants.
use std::time::Duration;

use warp_runtime::__private::{Mode, Style};
use warp_runtime::prelude::*;
use warp_ui_tests::{on_contract, rate_limit};

const MAX_RATE: u32 = 10_000;
const HOUR: Duration = Duration::from_secs(3_600);

macro_rules! jobs {
    ($($name:ident: $($argument:ident = $value:expr),*;)*) => {$(
        #[rate_limit("api", $($argument = $value),*)]
        #[derive(Serialize, Deserialize, Job)]
        struct $name;
    )*};
}

/// Both numbers from the item itself.
#[rate_limit("api", count = Self::COUNT, per_seconds = Self::WINDOW)]
#[derive(Serialize, Deserialize, Job)]
struct Own;

impl Own {
    const COUNT: u32 = 2;
    const WINDOW: u64 = 3;
}

jobs! {
    Default: count = 10, per_seconds = 60;
    Explicit: style = "fixed", mode = "wait", per_seconds = 1, count = 1;
    Most: count = 4_294_967_295, per_seconds = 604_800, style = "token_bucket";
    Sliding: count = 10_000, per_seconds = 1, style = "sliding", mode = "skip";
    Written: count = 1, per = "1h 30m";
    Shortest: count = 1, per = "1ms";
    Longest: count = 1, per = "7days";
    Constants: count = MAX_RATE, per_seconds = HOUR.as_secs(), style = "sliding";
    LongestConstant: count = MAX_RATE * 10, per_seconds = 168 * HOUR.as_secs();
}

fn main() {
    fn values<J: Job>() -> (u32, u64, Mode, Style) {
        let declared = on_contract::<J>();
        let policy = rate_limit(&declared);
        (
            policy.count(),
            policy.window_micros(),
            policy.mode(),
            policy.style(),
        )
    }
    assert_eq!(
        values::<Default>(),
        (10, 60_000_000, Mode::Skip, Style::Fixed)
    );
    assert_eq!(
        values::<Explicit>(),
        (1, 1_000_000, Mode::Wait, Style::Fixed)
    );
    assert_eq!(
        values::<Most>(),
        (u32::MAX, 604_800_000_000, Mode::Skip, Style::TokenBucket)
    );
    assert_eq!(
        values::<Sliding>(),
        (10_000, 1_000_000, Mode::Skip, Style::Sliding)
    );
    assert_eq!(
        values::<Written>(),
        (1, 5_400_000_000, Mode::Skip, Style::Fixed)
    );
    assert_eq!(values::<Shortest>(), (1, 1_000, Mode::Skip, Style::Fixed));
    assert_eq!(
        values::<Longest>(),
        (1, 604_800_000_000, Mode::Skip, Style::Fixed)
    );
    assert_eq!(
        values::<Constants>(),
        (10_000, 3_600_000_000, Mode::Skip, Style::Sliding)
    );
    assert_eq!(values::<Own>(), (2, 3_000_000, Mode::Skip, Style::Fixed));
    assert_eq!(
        values::<LongestConstant>(),
        (100_000, 604_800_000_000, Mode::Skip, Style::Fixed)
    );
}
