//! R30, R34: fields of the contract, on both rungs.
use warp_runtime::PolicyError;
use warp_runtime::__private::Declared;
use warp_runtime::prelude::*;
use warp_ui_tests::{concurrency, on_contract, on_handler};

#[derive(Serialize, Deserialize)]
struct Customer {
    id: u32,
    address: (String, u16),
}

#[mutex("{{pay}}:{customer.id}")]
#[derive(Serialize, Deserialize, Job)]
struct Payment {
    customer: Customer,
}

#[mutex("{type}/{customer.address.0}")]
#[derive(Serialize, Deserialize, Job)]
struct Refund {
    r#type: String,
    customer: Customer,
}

#[mutex("{{fixed}}")]
#[derive(Serialize, Deserialize, Job)]
struct Fixed;

#[mutex("pair:{1}")]
#[derive(Serialize, Deserialize, Job)]
struct Pair(u8, String);

struct Handler<S>(S);

#[mutex("handler:{ customer.id }")]
impl<S: Send + Sync + 'static> JobHandler<Payment> for Handler<S> {
    async fn handle(&self, _job: Payment, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

#[mutex("own:{0}")]
impl JobHandler<Self> for Pair {
    async fn handle(&self, _job: Self, _ctx: &JobContext) -> JobResult {
        Ok(())
    }
}

/// A literal from elsewhere has names of its own.
macro_rules! job {
    ($(#[$attribute:meta])* $name:ident, $key:literal) => {
        $(#[$attribute])*
        #[mutex($key)]
        #[derive(Serialize, Deserialize, Job)]
        struct $name {
            id: u32,
        }
    };
}
job!(Generated, "generated:{id}");

fn customer() -> Customer {
    Customer {
        id: 7,
        address: ("a:b".to_owned(), 1),
    }
}

fn main() {
    fn key<J: 'static>(declared: Declared, job: &J) -> Result<String, PolicyError> {
        let spec = concurrency(&declared).spec(job)?;
        Ok(spec.key().to_string())
    }

    let payment = Payment {
        customer: customer(),
    };
    assert_eq!(
        key(on_contract::<Payment>(), &payment).as_deref(),
        Ok("{pay}:7")
    );
    let handler = on_handler::<Payment, Handler<u8>>("Handler<S>", "Payment");
    assert_eq!(key(handler, &payment).as_deref(), Ok("handler:7"));

    let refund = Refund {
        r#type: "x%".to_owned(),
        customer: customer(),
    };
    assert_eq!(
        key(on_contract::<Refund>(), &refund).as_deref(),
        Ok("x%25/a%3Ab")
    );

    assert_eq!(
        key(on_contract::<Fixed>(), &Fixed).as_deref(),
        Ok("{fixed}")
    );

    let pair = Pair(0, "x".to_owned());
    assert_eq!(key(on_contract::<Pair>(), &pair).as_deref(), Ok("pair:x"));
    assert_eq!(
        key(on_handler::<Pair, Pair>("Pair", "Pair"), &pair).as_deref(),
        Ok("own:0")
    );

    assert_eq!(
        key(on_contract::<Generated>(), &Generated { id: 3 }).as_deref(),
        Ok("generated:3")
    );

    // Another type than the one it was declared for is an error, not a key.
    assert!(key(on_contract::<Pair>(), &payment).is_err());
}
