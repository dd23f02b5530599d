//! The handlers of a worker, found by the stored names of their contracts.

mod attempt;
mod erased;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use warp_storage::model::{Resolution, Resolver, Unresolved};

pub(crate) use self::attempt::{Outcome, storable};
use self::erased::{Erased, Handler};
use crate::contract::Job;
use crate::handler::JobHandler;
use crate::key_secret::KeySecret;
use crate::registry::Used;

/// The handlers of a worker.
#[derive(Default)]
pub(crate) struct Handlers {
    by_name: BTreeMap<&'static str, Arc<dyn Erased>>,
    used: Vec<Used>,
    /// What hashes the fields of keys.
    pub(crate) key_secret: Option<KeySecret>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

impl Handlers {
    pub(crate) fn add<J: Job, H: JobHandler<J>>(&mut self, handler: H) {
        let handler: Arc<dyn Erased> = Arc::new(Handler::<J, H>::new(handler));
        let used = Used::of::<J, H>();
        for name in used.contract.names() {
            self.by_name.insert(name, Arc::clone(&handler));
        }
        self.used.push(used);
    }

    /// The names under which jobs are served (R7, R27).
    pub(crate) fn kinds(&self) -> BTreeSet<Arc<str>> {
        self.by_name.keys().map(|&name| name.into()).collect()
    }

    pub(crate) fn used(&self) -> &[Used] {
        &self.used
    }

    /// The keys that hash fields, with their places.
    pub(crate) fn hashed_keys(&self) -> Vec<String> {
        let policies = self.used.iter().flat_map(Used::policies);
        policies
            .filter(|policy| policy.key().has_hashes())
            .map(|policy| format!("`{}` at {}", policy.key().text(), policy.site()))
            .collect()
    }

    pub(crate) fn find(&self, kind: &str) -> Option<&Arc<dyn Erased>> {
        self.by_name.get(kind)
    }
}

impl Resolver for Handlers {
    fn resolve(&self, job: &Unresolved) -> Resolution {
        match self.find(&job.kind) {
            Some(handler) => handler.resolve(job, self.key_secret.as_ref()),
            None => Resolution::Fail(format!("this worker has no handler for `{}`", job.kind)),
        }
    }

    fn declares_nothing(&self, kind: &str) -> bool {
        self.find(kind)
            .is_some_and(|handler| handler.declares_nothing())
    }
}
