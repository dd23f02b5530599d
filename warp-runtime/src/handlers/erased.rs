//! A handler without its types.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

use warp_policy::declaration::{
    ConcurrencyDeclaration, Declared, KeyDeclaration, RateLimitDeclaration, Subject,
};
use warp_policy::key::FieldHash;
use warp_policy::precedence::resolve;
use warp_storage::model::{Resolution, Unresolved};

use super::attempt::{Outcome, attempt, panic_text};
use crate::contract::Job;
use crate::handler::{JobHandler, declared};
use crate::job_context::JobContext;
use crate::key_secret::KeySecret;

/// A handler without its types.
pub(crate) trait Erased: Send + Sync {
    /// Which policies a job follows (R20).
    fn resolve(&self, job: &Unresolved, secret: Option<&KeySecret>) -> Resolution;

    /// Whether neither the handler nor the contract declares a policy.
    fn declares_nothing(&self) -> bool;

    /// Runs one attempt. The future never panics.
    fn run(
        &self,
        payload: String,
        context: JobContext,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;
}

pub(super) struct Handler<J, H> {
    handler: Arc<H>,
    contract: PhantomData<fn(J)>,
}

impl<J, H> Handler<J, H> {
    pub(super) fn new(handler: H) -> Self {
        Self {
            handler: Arc::new(handler),
            contract: PhantomData,
        }
    }
}

impl<J: Job, H: JobHandler<J>> Erased for Handler<J, H> {
    fn resolve(&self, job: &Unresolved, secret: Option<&KeySecret>) -> Resolution {
        let (on_handler, on_contract) = (declared::<J, H>(), J::__WARP_DECLARED);
        // The user's `Deserialize` and `Display` run here; a panic of theirs fails this job only (R32).
        let resolved = catch_unwind(AssertUnwindSafe(|| {
            let contract: Box<dyn Any> = if has_template(&on_handler) || has_template(&on_contract)
            {
                Box::new(parse::<J>(&job.payload)?)
            } else {
                Box::new(())
            };
            let subject = Subject::new(&*contract, secret.map(|secret| secret as &dyn FieldHash));
            resolve(&job.explicit, &on_handler, &on_contract, subject)
                .map_err(|error| error.to_string())
        }));
        match resolved {
            Ok(Ok(stamp)) => Resolution::Stamp(stamp),
            Ok(Err(error)) => Resolution::Fail(error),
            Err(panic) => Resolution::Fail(format!(
                "rendering its keys panicked: {}",
                panic_text(panic)
            )),
        }
    }

    fn declares_nothing(&self) -> bool {
        [declared::<J, H>(), J::__WARP_DECLARED]
            .iter()
            .all(Declared::is_empty)
    }

    fn run(
        &self,
        payload: String,
        context: JobContext,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let handler = Arc::clone(&self.handler);
        Box::pin(attempt(move || parse::<J>(&payload), handler, context))
    }
}

fn parse<J: Job>(payload: &str) -> Result<J, String> {
    serde_json::from_str(payload)
        .map_err(|error| format!("its payload is no `{}`: {error}", J::NAME))
}

fn has_template(declared: &Declared) -> bool {
    let keys = declared.concurrency.map(ConcurrencyDeclaration::key);
    let mut keys = keys
        .into_iter()
        .chain(declared.rate_limits().map(RateLimitDeclaration::key));
    keys.any(|key| matches!(key, KeyDeclaration::Template { .. }))
}
