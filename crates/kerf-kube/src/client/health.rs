//! Whether the process lives and is ready to work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use kerf_engine::event::Kind;
use kerf_runtime::FailureLog;
use tokio::sync::watch;

/// What readiness is judged by; shared by all parts of the process.
#[derive(Clone, Debug)]
pub struct Health {
    state: Arc<Mutex<State>>,
    listed: Arc<watch::Sender<BTreeSet<Kind>>>,
    failures: FailureLog,
}

#[derive(Debug, Default)]
struct State {
    /// Whether every kind of object has been seen once.
    complete: bool,
    /// Watches that do not work now, and why.
    failing: BTreeMap<String, String>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            listed: Arc::new(watch::channel(BTreeSet::new()).0),
            failures: FailureLog::default(),
        }
    }
}

impl Health {
    /// What does not work now, logged once each.
    #[must_use]
    pub fn failures(&self) -> &FailureLog {
        &self.failures
    }

    /// A watch works.
    pub(crate) fn watch_works(&self, resource: &str) {
        self.failures.recovered(&format!("watching {resource}"));
        self.with(|state| drop(state.failing.remove(resource)));
    }

    /// A watch does not work, without which the process is not ready.
    pub(crate) fn watch_fails(&self, resource: &str, kind: &'static str, why: &str) {
        self.optional_watch_fails(resource, kind, why);
        self.with(|state| drop(state.failing.insert(resource.to_owned(), why.to_owned())));
    }

    /// A watch does not work; the process does what it can without it.
    pub(crate) fn optional_watch_fails(&self, resource: &str, kind: &'static str, why: &str) {
        self.failures.failed(&format!("watching {resource}"), kind, why);
    }

    /// Every object of a kind has been seen once.
    pub(crate) fn listed(&self, kind: Kind) {
        self.listed.send_if_modified(|listed| listed.insert(kind));
    }

    /// Waits until every object of these kinds has been seen once.
    pub async fn until_listed(&self, kinds: &[Kind]) {
        let mut listed = self.listed.subscribe();
        // The sender lives as long as this.
        let _ = listed.wait_for(|listed| kinds.iter().all(|kind| listed.contains(kind))).await;
    }

    /// Every kind of object has been seen once.
    pub(crate) fn complete(&self) {
        self.with(|state| state.complete = true);
    }

    /// Whether the process can do its work; if not, why.
    ///
    /// # Errors
    /// What is missing: kinds that cannot be watched, which is also what a missing definition
    /// shows as, or the first complete look at the cluster.
    pub fn readiness(&self) -> Result<(), String> {
        self.with(|state| {
            if !state.failing.is_empty() {
                let line = |(resource, why): (&String, &String)| format!("{resource}: {why}");
                let lines: Vec<String> = state.failing.iter().map(line).collect();
                return Err(format!("cannot watch {}", lines.join("; ")));
            }
            if !state.complete {
                return Err("not everything has been listed yet".to_owned());
            }
            Ok(())
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
