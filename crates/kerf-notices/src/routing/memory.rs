//! What the router remembers between batches.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::CallFailure;
use super::cluster_search::{ClusterSearches, Discovery};
use super::delivered::{Delivered, DeliveryKey};
use super::expiring::Expiring;
use super::owner::Owner;
use super::pace::Pace;
use super::scope::{RoutedCluster, Scope, ScopeBook};
use super::settings::RoutingSettings;
use super::static_map::Route;
use super::verdict::Unrouted;
use crate::message::InstanceId;

/// How much is remembered, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize {
    /// Instances whose owner is remembered. An entry takes about 100 bytes.
    pub instances: usize,
    /// How long: an owner never changes, so two hours outlast the death of an instance.
    pub instance_ttl_ms: u64,
    /// How long an instance without an owner is not asked for again: tags may follow the launch.
    pub unknown_ttl_ms: u64,
    /// How long the URL of a queue is believed.
    pub queue_ttl_ms: u64,
    /// How long the absence of a queue is believed.
    pub no_queue_ttl_ms: u64,
    /// Deliveries that are not repeated. 100,000 in ten minutes are 166 events per second.
    pub deliveries: usize,
    /// How long a delivery is not repeated.
    pub delivery_ttl_ms: u64,
}

impl Default for MemorySize {
    fn default() -> Self {
        Self {
            instances: 100_000,
            instance_ttl_ms: 7_200_000,
            unknown_ttl_ms: 30_000,
            queue_ttl_ms: 600_000,
            no_queue_ttl_ms: 60_000,
            deliveries: 100_000,
            delivery_ttl_ms: 600_000,
        }
    }
}

/// Clusters, and also distinct owners, that are remembered. Ten times an account's quota of
/// clusters per region (100).
const CLUSTERS_MAX: usize = 1_000;

/// What outlives a batch: settings, owners of instances, queues of clusters, recent deliveries.
#[derive(Clone, Debug)]
pub struct Router {
    pub(super) settings: RoutingSettings,
    pub(super) scopes: ScopeBook,
    owned: Expiring<InstanceKey, Arc<Owner>>,
    unknown: Expiring<InstanceKey, ()>,
    owners: BTreeSet<Arc<Owner>>,
    queues: Expiring<RoutedCluster, Arc<[Route]>>,
    no_queue: Expiring<RoutedCluster, Unrouted>,
    searches: ClusterSearches,
    delivered: Delivered,
    pace: Pace,
}

pub(super) type InstanceKey = (Arc<Scope>, InstanceId);

/// The clusters there are.
pub(super) struct EveryCluster {
    pub(super) names: Vec<Arc<str>>,
    /// What a search failed of that will fail again.
    pub(super) denied: Vec<CallFailure>,
}

/// What is known of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    Owned(Arc<Owner>),
    Nobody,
}

impl Router {
    /// A router that remembers nothing yet.
    pub fn new(settings: RoutingSettings) -> Self {
        let size = settings.memory;
        Self {
            scopes: ScopeBook::new(settings.home.clone()),
            owned: Expiring::new(size.instances, size.instance_ttl_ms),
            unknown: Expiring::new(size.instances, size.unknown_ttl_ms),
            owners: BTreeSet::new(),
            queues: Expiring::new(CLUSTERS_MAX, size.queue_ttl_ms),
            no_queue: Expiring::new(CLUSTERS_MAX, size.no_queue_ttl_ms),
            searches: ClusterSearches::default(),
            delivered: Delivered::new(size.deliveries, size.delivery_ttl_ms),
            pace: Pace::default(),
            settings,
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &RoutingSettings {
        &self.settings
    }

    /// How many owners are remembered.
    pub fn remembered_instances(&self) -> usize {
        self.owned.len()
    }

    pub(super) fn ownership(&self, key: &InstanceKey, now_ms: u64) -> Option<Ownership> {
        if let Some(owner) = self.owned.get(key, now_ms) {
            return Some(Ownership::Owned(Arc::clone(owner)));
        }
        self.unknown.get(key, now_ms).map(|()| Ownership::Nobody)
    }

    pub(super) fn learn_owner(
        &mut self,
        key: InstanceKey,
        owner: Option<Owner>,
        now_ms: u64,
    ) -> Ownership {
        let Some(owner) = owner else {
            self.unknown.insert(key, (), now_ms);
            return Ownership::Nobody;
        };
        let owner = self.shared(owner);
        self.owned.insert(key, Arc::clone(&owner), now_ms);
        Ownership::Owned(owner)
    }

    /// One value for equal owners: a hundred thousand instances belong to a few clusters.
    fn shared(&mut self, owner: Owner) -> Arc<Owner> {
        if let Some(known) = self.owners.get(&owner) {
            return Arc::clone(known);
        }
        if self.owners.len() >= CLUSTERS_MAX {
            self.owners.clear();
        }
        let owner = Arc::new(owner);
        self.owners.insert(Arc::clone(&owner));
        owner
    }

    /// The routes of a cluster, or why it is known to have none.
    pub(super) fn routes(
        &self,
        cluster: &RoutedCluster,
        now_ms: u64,
    ) -> Option<Result<Arc<[Route]>, Unrouted>> {
        if let Some(routes) = self.settings.static_map.clusters.get(&cluster.name) {
            return Some(Ok(Arc::clone(routes)));
        }
        if let Some(routes) = self.queues.get(cluster, now_ms) {
            return Some(Ok(Arc::clone(routes)));
        }
        self.no_queue.get(cluster, now_ms).map(|why| Err(*why))
    }

    /// Remembers the queue of a cluster, or why it has none.
    pub(super) fn learn_queue(
        &mut self,
        cluster: &RoutedCluster,
        url: Result<&str, Unrouted>,
        now_ms: u64,
    ) -> Result<Arc<[Route]>, Unrouted> {
        match url {
            Ok(url) => {
                let routes: Arc<[Route]> = [Route::plain(url)].into();
                self.queues.insert(cluster.clone(), Arc::clone(&routes), now_ms);
                self.no_queue.remove(cluster);
                Ok(routes)
            }
            Err(why) => {
                self.no_queue.insert(cluster.clone(), why, now_ms);
                self.queues.remove(cluster);
                Err(why)
            }
        }
    }

    /// Forgets where a cluster's queue was. False: an operator says where it is, so asking again
    /// would give the same answer.
    pub(super) fn forget_queue(&mut self, cluster: &RoutedCluster) -> bool {
        self.queues.remove(cluster);
        !self.settings.static_map.clusters.contains_key(&cluster.name)
    }

    /// The searches for clusters to begin now. Each counts as under way until its answer comes to
    /// [`Self::learn_clusters`], and nobody has to wait for it.
    pub fn searches_due(&mut self, now_ms: u64) -> Vec<Discovery> {
        let ways = self.ways_to_search();
        ways.filter(|how| self.searches.begin(*how, now_ms)).collect()
    }

    /// When the next search for clusters is due; `None` where none is ever made.
    pub fn next_search_ms(&self) -> Option<u64> {
        self.ways_to_search().map(|how| self.searches.next_ms(how)).min()
    }

    /// Takes in which clusters there are, as names and URLs of queues, or why nobody can say.
    pub fn learn_clusters(
        &mut self,
        how: Discovery,
        answer: Result<Vec<(String, String)>, CallFailure>,
        now_ms: u64,
    ) {
        let fresh_until_ms = now_ms.saturating_add(self.settings.memory.queue_ttl_ms);
        let clusters = match answer {
            Ok(clusters) => clusters,
            Err(failure) => return self.searches.failed(how, failure, fresh_until_ms, now_ms),
        };
        let mut names = Vec::new();
        for (name, url) in clusters.into_iter().take(CLUSTERS_MAX) {
            let cluster = RoutedCluster { name: name.into(), foreign: false };
            let is_known = matches!(self.routes(&cluster, now_ms), Some(Ok(_)));
            // A table outranks a tag: what it says stays until it expires by itself.
            if how == Discovery::Table || !is_known {
                let _ = self.learn_queue(&cluster, Ok(&url), now_ms);
            }
            names.push(cluster.name);
        }
        self.searches.found(how, names, fresh_until_ms, now_ms);
    }

    /// Every cluster there is, with the rights that are missing to know them all; or, while that is
    /// not known, why the last search gave nothing.
    pub(super) fn every_cluster(&self, now_ms: u64) -> Result<EveryCluster, Option<CallFailure>> {
        let mut names: Vec<_> = self.settings.static_map.clusters.keys().cloned().collect();
        let mut denied = Vec::new();
        for how in self.ways_to_search() {
            let failure = self.searches.failure(how);
            match self.searches.clusters(how, now_ms) {
                Some(found) => names.extend(found.iter().cloned()),
                None => return Err(failure.cloned()),
            }
            denied.extend(failure.filter(|why| matches!(why, CallFailure::Denied(_))).cloned());
        }
        names.sort_unstable();
        names.dedup();
        Ok(EveryCluster { names, denied })
    }

    fn ways_to_search(&self) -> impl Iterator<Item = Discovery> + use<> {
        let settings = &self.settings;
        let is_wanted = settings.forwarding.zonal_shift;
        let table = (is_wanted && settings.has_table).then_some(Discovery::Table);
        let tags = (is_wanted && settings.discover_by_tag).then_some(Discovery::Tags);
        table.into_iter().chain(tags)
    }

    pub(super) fn was_delivered(&self, key: &DeliveryKey, now_ms: u64) -> bool {
        self.delivered.contains(key, now_ms)
    }

    /// Whether a queue has had as many messages within a minute as it may.
    pub(super) fn is_flooded(&self, queue: &str, now_ms: u64) -> bool {
        self.pace.count(queue, now_ms) >= self.settings.messages_per_minute_max
    }

    /// A queue took a message.
    pub(super) fn note_message(&mut self, queue: &Arc<str>, now_ms: u64) {
        self.pace.note(queue, now_ms);
    }

    pub(super) fn note_delivery(&mut self, key: DeliveryKey, now_ms: u64) {
        self.delivered.insert(key, now_ms);
    }
}
