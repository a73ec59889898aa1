//! Finding the queue of a cluster.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::backoff::{CallFailure, Rng};
use super::static_map::Route;
use super::verdict::Unrouted;
use super::{RoutedCluster, Router};

/// Calls that fail for another reason than throttling are tried again this often.
const RETRIES_MAX: u32 = 3;

/// Where the queue of a cluster may be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueQuery {
    /// Ask the table for this cluster.
    Table {
        /// The key.
        cluster: RoutedCluster,
    },
    /// Ask whether a queue has this name.
    Named {
        /// Whose queue it would be.
        cluster: RoutedCluster,
        /// The name.
        name: String,
    },
}

impl QueueQuery {
    fn cluster(&self) -> &RoutedCluster {
        match self {
            Self::Table { cluster } | Self::Named { cluster, .. } => cluster,
        }
    }
}

/// What a query for a queue gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundQueue {
    /// The queue is there.
    At(String),
    /// It is not.
    Missing,
    /// A queue has that name, and no tag says that it is the cluster's. Whoever may tag an instance
    /// could otherwise have the router write to any queue of the account.
    NotTagged,
}

impl From<Option<String>> for FoundQueue {
    fn from(url: Option<String>) -> Self {
        url.map_or(Self::Missing, Self::At)
    }
}

/// Where a cluster's messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Routes(Arc<[Route]>),
    NoQueue(Unrouted),
    Failed(CallFailure),
}

/// The searches of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueSearches {
    known: FxHashMap<RoutedCluster, Destination>,
    open: FxHashMap<RoutedCluster, VecDeque<QueueQuery>>,
    waiting: Vec<Waiting>,
    /// Clusters after which a queue is named that is not tagged for them.
    not_tagged: FxHashSet<RoutedCluster>,
    attempts: FxHashMap<RoutedCluster, u32>,
}

#[derive(Clone, Debug)]
struct Waiting {
    what: QueueQuery,
    not_before_ms: u64,
}

impl QueueSearches {
    /// Where a cluster's messages go, if that is known by now; starts a search if not.
    pub(super) fn destination(
        &mut self,
        router: &Router,
        cluster: &RoutedCluster,
        now_ms: u64,
    ) -> Option<Destination> {
        if let Some(known) = self.known.get(cluster) {
            return Some(known.clone());
        }
        if self.open.contains_key(cluster) {
            return None;
        }
        if let Some(routes) = router.routes(cluster, now_ms) {
            let destination = routes.map_or_else(Destination::NoQueue, Destination::Routes);
            self.known.insert(cluster.clone(), destination.clone());
            return Some(destination);
        }
        let mut queries = VecDeque::new();
        if router.settings.has_table {
            queries.push_back(QueueQuery::Table { cluster: cluster.clone() });
        }
        if !cluster.foreign {
            let names = router.settings.template.names(&cluster.name).into_iter();
            queries.extend(names.map(|name| QueueQuery::Named { cluster: cluster.clone(), name }));
        }
        let Some(first) = queries.pop_front() else {
            let none = Destination::NoQueue(Unrouted::NoQueue);
            self.known.insert(cluster.clone(), none.clone());
            return Some(none);
        };
        self.waiting.push(Waiting { what: first, not_before_ms: 0 });
        self.open.insert(cluster.clone(), queries);
        None
    }

    /// Forgets a destination that turned out wrong, so that it is searched for again.
    pub(super) fn forget(&mut self, cluster: &RoutedCluster) {
        self.known.remove(cluster);
    }

    pub(super) fn due(&mut self, now_ms: u64) -> Vec<QueueQuery> {
        let (due, later): (Vec<_>, Vec<_>) =
            self.waiting.drain(..).partition(|waiting| waiting.not_before_ms <= now_ms);
        self.waiting = later;
        due.into_iter().map(|waiting| waiting.what).collect()
    }

    pub(super) fn next_ms(&self) -> Option<u64> {
        self.waiting.iter().map(|waiting| waiting.not_before_ms).min()
    }

    /// Takes in where a queue is, or that it is not there.
    pub(super) fn answered(
        &mut self,
        router: &mut Router,
        query: &QueueQuery,
        found: &FoundQueue,
        now_ms: u64,
    ) {
        let cluster = query.cluster();
        if *found == FoundQueue::NotTagged {
            self.not_tagged.insert(cluster.clone());
        }
        let url = match found {
            FoundQueue::At(url) => Ok(url.as_str()),
            FoundQueue::Missing | FoundQueue::NotTagged => {
                if let Some(next) = self.open.get_mut(cluster).and_then(VecDeque::pop_front) {
                    self.waiting.push(Waiting { what: next, not_before_ms: 0 });
                    return;
                }
                let is_named = self.not_tagged.contains(cluster);
                Err(if is_named { Unrouted::NotTagged } else { Unrouted::NoQueue })
            }
        };
        let routes = router.learn_queue(cluster, url, now_ms);
        let destination = routes.map_or_else(Destination::NoQueue, Destination::Routes);
        self.settle(cluster, destination);
    }

    /// Decides what follows a query that gave no answer: again later, or failure.
    pub(super) fn failed(
        &mut self,
        query: QueueQuery,
        failure: &CallFailure,
        rng: &mut Rng,
        times: (u64, u64),
    ) {
        let cluster = query.cluster().clone();
        let attempts = self.attempts.entry(cluster.clone()).or_default();
        match again_at_ms(failure, *attempts, rng, times) {
            Some(not_before_ms) => {
                *attempts += 1;
                self.waiting.push(Waiting { what: query, not_before_ms });
            }
            None => self.settle(&cluster, Destination::Failed(failure.clone())),
        }
    }

    fn settle(&mut self, cluster: &RoutedCluster, destination: Destination) {
        self.open.remove(cluster);
        self.known.insert(cluster.clone(), destination);
    }
}

/// When to try again, if at all.
pub(super) fn again_at_ms(
    failure: &CallFailure,
    attempts: u32,
    rng: &mut Rng,
    (now_ms, patient_until_ms): (u64, u64),
) -> Option<u64> {
    let worthwhile = match failure {
        CallFailure::Throttled { .. } | CallFailure::Credentials(_) => true,
        CallFailure::Unavailable(_) => attempts < RETRIES_MAX,
        CallFailure::Denied(_) | CallFailure::Refused(_) | CallFailure::NoQueue => false,
    };
    let moment = now_ms.saturating_add(failure.wait_ms(attempts, rng.next_u64()));
    (worthwhile && moment < patient_until_ms).then_some(moment)
}
