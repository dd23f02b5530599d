//! R10: what it will be, no attribute sees.
use warp_runtime::prelude::*;

macro_rules! payment {
    () => {
        #[derive(Serialize, Deserialize, Job)]
        struct Payment;
    };
}

#[mutex("payment")]
payment!();

fn main() {}
