//! R16, R51: defaults, boundaries, constants.
use warp_runtime::__private::Mode;
use warp_runtime::prelude::*;
use warp_ui_tests::{concurrency, on_contract, on_handler};

mod limits {
    pub(crate) const SLOTS: u32 = 3;
}
const SLOTS: u32 = 4_294_967_295;

macro_rules! jobs {
    ($($name:ident: $($argument:ident = $value:expr),*;)*) => {$(
        #[semaphore("api", $($argument = $value),*)]
        #[derive(Serialize, Deserialize, Job)]
        struct $name;
    )*};
}

jobs! {
    Default: limit = 5;
    Least: limit = 1, mode = "skip";
    Most: mode = "wait", limit = 4_294_967_295;
    Suffix: limit = 0x10_u8;
    Parentheses: limit = (6);
    Constant: limit = SLOTS;
    Path: limit = limits::SLOTS;
    Expression: limit = 2 * limits::SLOTS + 1;
    Block: limit = {
        const fn slots() -> u32 {
            9
        }
        slots()
    };
}

struct Handler;

impl Handler {
    const SLOTS: u32 = 8;
}

#[semaphore("api", limit = Handler::SLOTS)]
impl JobHandler<Default> for Handler {
    async fn handle(&self, _job: Default, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

fn main() {
    fn values<J: Job>() -> (u32, Mode) {
        let declared = on_contract::<J>();
        (
            concurrency(&declared).limit(),
            concurrency(&declared).mode(),
        )
    }
    assert_eq!(values::<Default>(), (5, Mode::Wait));
    assert_eq!(values::<Least>(), (1, Mode::Skip));
    assert_eq!(values::<Most>(), (u32::MAX, Mode::Wait));
    assert_eq!(values::<Suffix>(), (16, Mode::Wait));
    assert_eq!(values::<Parentheses>(), (6, Mode::Wait));
    assert_eq!(values::<Constant>(), (u32::MAX, Mode::Wait));
    assert_eq!(values::<Path>(), (3, Mode::Wait));
    assert_eq!(values::<Expression>(), (7, Mode::Wait));
    assert_eq!(values::<Block>(), (9, Mode::Wait));
    assert_eq!(
        concurrency(&on_handler::<Default, Handler>("Handler", "Default")).limit(),
        8
    );
}
