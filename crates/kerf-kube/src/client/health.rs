//! Whether the process lives and is ready to work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kerf_engine::event::Kind;
use kerf_runtime::FailureLog;
use kerf_runtime::queue::QueueHealth;
use tokio::sync::watch;
use tokio::time::Instant;

/// What readiness is judged by; shared by all parts of the process.
#[derive(Clone, Debug)]
pub struct Health {
    state: Arc<Mutex<State>>,
    listed: Arc<watch::Sender<BTreeSet<Kind>>>,
    failures: FailureLog,
}

#[derive(Debug, Default)]
struct State {
    /// Queues that are read.
    queues: Vec<QueueHealth>,
    /// Whether every kind of object has been seen once.
    complete: bool,
    /// Watches that do not work now, and why.
    failing: BTreeMap<String, String>,
    /// Kinds that were not heard of for too long.
    silent: BTreeSet<Kind>,
    /// When the engine's task last went round.
    beat: Option<Instant>,
}

/// The engine's task goes round every ten seconds at least; one that has not for so long is stuck.
const ALIVE_WITHIN: Duration = Duration::from_secs(60);

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

    /// These kinds, and no others, have not been heard of for too long: what would follow from their
    /// silence waits.
    pub(crate) fn silent(&self, kinds: BTreeSet<Kind>) {
        let former = self.with(|state| std::mem::replace(&mut state.silent, kinds.clone()));
        for kind in kinds.difference(&former) {
            let why = "not heard of for too long; nothing is taken away by what may be old";
            self.failures.failed(&hearing_of(*kind), "silent", why);
        }
        for kind in former.difference(&kinds) {
            self.failures.recovered(&hearing_of(*kind));
        }
    }

    /// A queue is read from now on: while it gives no answer the process is not ready.
    pub fn read_queue(&self, queue: QueueHealth) {
        self.with(|state| state.queues.push(queue));
    }

    /// The queues that are read, and whether each answers.
    pub(crate) fn queues(&self) -> Vec<(String, bool)> {
        let queue = |it: &QueueHealth| (it.name().to_owned(), it.check().is_ok());
        self.with(|state| state.queues.iter().map(queue).collect())
    }

    /// The engine's task goes round.
    pub(crate) fn beat(&self) {
        self.with(|state| state.beat = Some(Instant::now()));
    }

    /// Whether the engine's task goes round; nothing that others may break counts here, because a
    /// new start would not mend it.
    ///
    /// # Errors
    /// For how long it has not.
    pub fn liveness(&self) -> Result<(), String> {
        match self.with(|state| state.beat).map(|beat| beat.elapsed()) {
            Some(silent) if silent > ALIVE_WITHIN => {
                Err(format!("the engine has done nothing for {} s", silent.as_secs()))
            }
            _ => Ok(()),
        }
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
    /// shows as, the first complete look at the cluster, or answers of a queue.
    pub fn readiness(&self) -> Result<(), String> {
        self.with(|state| {
            if !state.failing.is_empty() {
                let line = |(resource, why): (&String, &String)| format!("{resource}: {why}");
                let lines: Vec<String> = state.failing.iter().map(line).collect();
                return Err(format!("cannot watch {}", lines.join("; ")));
            }
            if !state.silent.is_empty() {
                let kinds: Vec<&str> = state.silent.iter().map(|it| it.resource().plural).collect();
                return Err(format!("not heard of for too long: {}", kinds.join(", ")));
            }
            if !state.complete {
                return Err("not everything has been listed yet".to_owned());
            }
            state.queues.iter().try_for_each(QueueHealth::check)
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A kind, as the failure log names it.
fn hearing_of(kind: Kind) -> String {
    format!("hearing of {}", kind.resource().plural)
}

#[cfg(test)]
mod tests {
    use kerf_runtime::queue::{Message, Queue, Reader, ReaderSettings};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_whose_engine_is_stuck_is_not_alive_and_one_that_waits_for_others_is() {
        let health = Health::default();
        assert_eq!(health.liveness(), Ok(()), "it has not begun");
        health.beat();
        health.watch_fails("pods", "unreachable", "no answer");
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(health.liveness(), Ok(()));
        assert!(health.readiness().is_err(), "but it is not ready");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(health.liveness(), Err("the engine has done nothing for 61 s".to_owned()));
        health.beat();
        assert_eq!(health.liveness(), Ok(()));
    }

    #[tokio::test]
    async fn a_process_that_does_not_hear_of_a_kind_is_alive_and_not_ready_until_it_does() {
        let health = Health::default();
        health.complete();
        health.beat();
        health.silent([Kind::Pod].into());
        assert_eq!(health.readiness(), Err("not heard of for too long: pods".to_owned()));
        assert_eq!(health.liveness(), Ok(()));
        assert_eq!(health.failures().lines().len(), 1, "and it is said once");
        health.silent(BTreeSet::new());
        assert_eq!(health.readiness(), Ok(()));
        assert_eq!(health.failures().lines(), [] as [&str; 0]);
    }

    /// A queue that refuses every call.
    struct Refusing;

    #[derive(Debug, thiserror::Error)]
    #[error("the credentials are not accepted")]
    struct Refusal;

    impl kerf_runtime::Kind for Refusal {
        fn kind(&self) -> &'static str {
            "credentials"
        }
    }

    impl Queue for Refusing {
        type Error = Refusal;

        async fn receive(&self) -> Result<Vec<Message>, Refusal> {
            Err(Refusal)
        }

        async fn delete(&self, _: Vec<String>) -> Result<Vec<String>, Refusal> {
            Err(Refusal)
        }
    }

    #[tokio::test]
    async fn a_queue_that_gives_no_answer_makes_the_process_not_ready_and_not_dead() {
        let name = "the queue".to_owned();
        let settings = ReaderSettings { name: name.clone(), receivers: 1, in_hand_max: 10 };
        let (reader, _deliveries) = Reader::new(Refusing, settings, FailureLog::default());
        let health = Health::default();
        health.complete();
        health.beat();
        reader.health().silent_after(Duration::ZERO);
        health.read_queue(reader.health());
        assert_eq!(health.readiness(), Ok(()), "nobody reads it yet");
        let (_stop, stopped) = watch::channel(false);
        tokio::spawn(reader.run(stopped));
        let why = "the credentials are not accepted";
        while !health.readiness().is_err_and(|told| told.contains(why)) {
            tokio::task::yield_now().await;
        }
        assert_eq!((health.queues(), health.liveness()), (vec![(name, false)], Ok(())));
    }
}
