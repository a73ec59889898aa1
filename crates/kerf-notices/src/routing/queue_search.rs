//! Finding the queue of a cluster, and the clusters there are.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::backoff::{CallFailure, Rng, wait_ms};
use super::static_map::Route;
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

/// A way to learn which clusters there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Discovery {
    /// Every row of the table.
    Table,
    /// Queues with the tag `kerf.sh/cluster`.
    Tags,
}

/// Where a cluster's messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Routes(Arc<[Route]>),
    NoQueue,
    Failed(CallFailure),
}

/// The searches of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueSearches {
    known: FxHashMap<RoutedCluster, Destination>,
    open: FxHashMap<RoutedCluster, VecDeque<QueueQuery>>,
    waiting: Vec<Waiting<QueueQuery>>,
    discoveries: [DiscoveryState; 2],
    waiting_discoveries: Vec<Waiting<Discovery>>,
    attempts: FxHashMap<RoutedCluster, u32>,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    what: T,
    not_before_ms: u64,
}

#[derive(Clone, Debug, Default)]
enum DiscoveryState {
    #[default]
    Unasked,
    Asked(u32),
    Settled,
    Failed(CallFailure),
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
            let destination = routes.map_or(Destination::NoQueue, Destination::Routes);
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
            self.known.insert(cluster.clone(), Destination::NoQueue);
            return Some(Destination::NoQueue);
        };
        self.waiting.push(Waiting { what: first, not_before_ms: 0 });
        self.open.insert(cluster.clone(), queries);
        None
    }

    /// Forgets a destination that turned out wrong, so that it is searched for again.
    pub(super) fn forget(&mut self, cluster: &RoutedCluster) {
        self.known.remove(cluster);
    }

    pub(super) fn due(&mut self, now_ms: u64) -> (Vec<QueueQuery>, Vec<Discovery>) {
        (take_due(&mut self.waiting, now_ms), take_due(&mut self.waiting_discoveries, now_ms))
    }

    pub(super) fn next_ms(&self) -> Option<u64> {
        let queries = self.waiting.iter().map(|waiting| waiting.not_before_ms);
        let discoveries = self.waiting_discoveries.iter().map(|waiting| waiting.not_before_ms);
        queries.chain(discoveries).min()
    }

    /// Takes in where a queue is, or that it is not there.
    pub(super) fn answered(
        &mut self,
        router: &mut Router,
        query: &QueueQuery,
        url: Option<&str>,
        now_ms: u64,
    ) {
        let cluster = query.cluster();
        if url.is_none()
            && let Some(next) = self.open.get_mut(cluster).and_then(VecDeque::pop_front)
        {
            self.waiting.push(Waiting { what: next, not_before_ms: 0 });
            return;
        }
        let routes = router.learn_queue(cluster, url, now_ms);
        let destination = routes.map_or(Destination::NoQueue, Destination::Routes);
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

    /// Every cluster there is, if that is known by now; starts a search if not.
    pub(super) fn every_cluster(
        &mut self,
        router: &Router,
        now_ms: u64,
    ) -> Option<Result<Vec<Arc<str>>, CallFailure>> {
        let settings = &router.settings;
        let mut clusters: Vec<_> = settings.static_map.clusters.keys().cloned().collect();
        let mut complete = true;
        let ways =
            [(Discovery::Table, settings.has_table), (Discovery::Tags, settings.discover_by_tag)];
        for (how, _) in ways.into_iter().filter(|(_, allowed)| *allowed) {
            if let DiscoveryState::Failed(failure) = &self.discoveries[how as usize] {
                return Some(Err(failure.clone()));
            }
            match router.discovered(how, now_ms) {
                Some(names) => clusters.extend(names.iter().cloned()),
                None => {
                    complete = false;
                    self.begin(how);
                }
            }
        }
        clusters.sort_unstable();
        clusters.dedup();
        complete.then_some(Ok(clusters))
    }

    fn begin(&mut self, how: Discovery) {
        let state = &mut self.discoveries[how as usize];
        if matches!(state, DiscoveryState::Unasked | DiscoveryState::Settled) {
            *state = DiscoveryState::Asked(0);
            self.waiting_discoveries.push(Waiting { what: how, not_before_ms: 0 });
        }
    }

    /// Takes in the clusters that a search gave.
    pub(super) fn discovered(
        &mut self,
        router: &mut Router,
        how: Discovery,
        clusters: Vec<(String, String)>,
        now_ms: u64,
    ) {
        router.learn_clusters(how, clusters, now_ms);
        self.discoveries[how as usize] = DiscoveryState::Settled;
    }

    /// Decides what follows a search that gave no answer. Without the permission to search, events
    /// for everybody still reach the clusters that are known otherwise.
    pub(super) fn discovery_failed(
        &mut self,
        router: &mut Router,
        how: Discovery,
        failure: &CallFailure,
        rng: &mut Rng,
        times: (u64, u64),
    ) {
        if matches!(failure, CallFailure::Denied(_)) {
            return self.discovered(router, how, Vec::new(), times.0);
        }
        let state = &mut self.discoveries[how as usize];
        let attempts = if let DiscoveryState::Asked(attempts) = state { *attempts } else { 0 };
        match again_at_ms(failure, attempts, rng, times) {
            Some(not_before_ms) => {
                *state = DiscoveryState::Asked(attempts + 1);
                self.waiting_discoveries.push(Waiting { what: how, not_before_ms });
            }
            None => *state = DiscoveryState::Failed(failure.clone()),
        }
    }
}

fn take_due<T>(waiting: &mut Vec<Waiting<T>>, now_ms: u64) -> Vec<T> {
    let (due, later): (Vec<_>, Vec<_>) =
        waiting.drain(..).partition(|waiting| waiting.not_before_ms <= now_ms);
    *waiting = later;
    due.into_iter().map(|waiting| waiting.what).collect()
}

/// When to try again, if at all.
pub(super) fn again_at_ms(
    failure: &CallFailure,
    attempts: u32,
    rng: &mut Rng,
    (now_ms, patient_until_ms): (u64, u64),
) -> Option<u64> {
    let worthwhile = match failure {
        CallFailure::Throttled => true,
        CallFailure::Unavailable(_) => attempts < RETRIES_MAX,
        CallFailure::Denied(_) | CallFailure::Refused(_) | CallFailure::NoQueue => false,
    };
    let moment = now_ms.saturating_add(wait_ms(attempts, rng.next_u64()));
    (worthwhile && moment < patient_until_ms).then_some(moment)
}
