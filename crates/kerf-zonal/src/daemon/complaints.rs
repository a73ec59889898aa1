//! What does not work, said once: until it works again, or fails in another way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::metrics::counter::Counter;
use tracing::{info, warn};

/// The things that do not work now; shared by all parts of the daemon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Complaints {
    current: Arc<Mutex<BTreeMap<String, Complaint>>>,
    /// How many times something was said.
    pub(crate) total: Counter,
}

#[derive(Debug)]
struct Complaint {
    kind: Kind,
    words: String,
}

/// Why something does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A permission is missing: somebody must do something.
    Denied,
    /// Anything else: it may pass.
    Failing,
}

impl Complaints {
    /// Something does not work. The log hears of it if that is news.
    pub(crate) fn complain(&self, what: &str, kind: Kind, words: String) {
        let mut current = self.current();
        if current.get(what).is_some_and(|known| known.kind == kind) {
            return;
        }
        warn!(what, "{words}");
        self.total.inc();
        current.insert(what.to_owned(), Complaint { kind, words });
    }

    /// Something works.
    pub(crate) fn settle(&self, what: &str) {
        let mut current = self.current();
        if current.remove(what).is_some() {
            info!(what, "works again");
        }
    }

    /// Everything that does not work, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let current = self.current();
        current.iter().map(|(what, it)| format!("{what}: {}", it.words)).collect()
    }

    fn current(&self) -> MutexGuard<'_, BTreeMap<String, Complaint>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
