//! Whether the process lives and is ready to work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What readiness is judged by; shared by all parts of the process.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether every kind of object has been seen once.
    complete: bool,
    /// Watches that do not work now, and why.
    failing: BTreeMap<String, String>,
}

impl Health {
    /// A watch works.
    pub(crate) fn watch_works(&self, resource: &str) {
        self.with(|state| drop(state.failing.remove(resource)));
    }

    /// A watch does not work.
    pub(crate) fn watch_fails(&self, resource: &str, why: &str) {
        self.with(|state| drop(state.failing.insert(resource.to_owned(), why.to_owned())));
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
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
