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

/// `Self` is the item that carries the attribute, its place in an expression whatever it may be.
#[semaphore("api", limit = Self::SLOTS + size_of::<Self>() as u32)]
#[derive(Serialize, Deserialize, Job)]
struct Own(u16);

impl Own {
    const SLOTS: u32 = 5;
}

struct Handler;

impl Handler {
    const SLOTS: u32 = 8;
}

/// Of one type too, although the block has parameters.
#[semaphore("api", limit = { <Self>::SLOTS })]
impl<J: Job> JobHandler<J> for Wrapper<u8> {
    async fn handle(&self, _job: J, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

struct Wrapper<T>(T);

impl Wrapper<u8> {
    const SLOTS: u32 = 11;
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
    assert_eq!(values::<Own>(), (7, Mode::Wait));
    let _ = (Own(1).0, Wrapper(1_u8).0);
    let wrapper = on_handler::<Own, Wrapper<u8>>("Wrapper<u8>", "J");
    assert_eq!(concurrency(&wrapper).limit(), 11);
    assert_eq!(
        concurrency(&on_handler::<Default, Handler>("Handler", "Default")).limit(),
        8
    );
}
