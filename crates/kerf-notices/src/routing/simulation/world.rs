//! A pretend account: instances with tags, queues with contents, and a judge.

use rustc_hash::FxHashMap;

use super::super::backoff::Rng;
use super::super::{
    Batch, CallFailure, EntryId, EntryOutcome, Lookup, QueueQuery, SendBatch, TaggedInstance,
};
use super::{Faults, SimulationReport};
use crate::message::InstanceId;

/// What AWS would know.
pub(super) struct World {
    clusters: usize,
    owners: FxHashMap<InstanceId, usize>,
    /// For each event and cluster: whether it should have it, and when it got it.
    deliveries: FxHashMap<(String, usize), Delivery>,
    faults: Faults,
    rng: Rng,
    injected: u64,
}

#[derive(Default)]
struct Delivery {
    expected: bool,
    arrived_ms: Vec<u64>,
}

/// As long as the router does not repeat a delivery.
const NOT_REPEATED_MS: u64 = 600_000;

const URL_PREFIX: &str = "https://sqs.invalid/111122223333/";

impl World {
    pub(super) fn new(clusters: usize, faults: Faults, rng: Rng) -> Self {
        let (owners, deliveries) = (FxHashMap::default(), FxHashMap::default());
        Self { clusters, owners, deliveries, faults, rng, injected: 0 }
    }

    pub(super) fn cluster_name(index: usize) -> String {
        format!("cluster-{index:03}")
    }

    /// An instance comes to be.
    pub(super) fn own(&mut self, id: InstanceId, cluster: usize) {
        self.owners.insert(id, cluster);
    }

    /// The judge notes that a cluster should hear of an event.
    pub(super) fn expect(&mut self, event_id: &str, cluster: usize) {
        self.deliveries.entry((event_id.to_owned(), cluster)).or_default().expected = true;
    }

    pub(super) fn describe(&mut self, lookup: &Lookup) -> Result<Vec<TaggedInstance>, CallFailure> {
        self.maybe_fail()?;
        let tagged = lookup.ids.iter().filter_map(|id| {
            let name = Self::cluster_name(*self.owners.get(id)?);
            let tags = vec![("eks:eks-cluster-name".to_owned(), name)];
            Some(TaggedInstance { id: *id, tags })
        });
        Ok(tagged.collect())
    }

    pub(super) fn queue(&mut self, query: &QueueQuery) -> Result<Option<String>, CallFailure> {
        self.maybe_fail()?;
        let QueueQuery::Named { name, .. } = query else { return Ok(None) };
        Ok(self.index_of(name).map(|_| format!("{URL_PREFIX}{name}")))
    }

    pub(super) fn discover(&mut self) -> Result<Vec<(String, String)>, CallFailure> {
        self.maybe_fail()?;
        let names = (0..self.clusters).map(Self::cluster_name);
        Ok(names.map(|name| (name.clone(), format!("{URL_PREFIX}{name}"))).collect())
    }

    pub(super) fn send(
        &mut self,
        batch: &Batch,
        send: &SendBatch,
        now_ms: u64,
    ) -> Result<Vec<(EntryId, EntryOutcome)>, CallFailure> {
        self.maybe_fail()?;
        let cluster = send.queue.strip_prefix(URL_PREFIX).and_then(|name| self.index_of(name));
        let cluster = cluster.ok_or(CallFailure::NoQueue)?;
        let mut outcomes = Vec::new();
        for id in &send.entries {
            if self.rng.chance(self.faults.entries_per_mille) {
                self.injected += 1;
                let why = "InternalError".to_owned();
                outcomes.push((*id, EntryOutcome::Failed { sender_fault: false, why }));
                continue;
            }
            let event_id = batch.outgoing(*id).and_then(|outgoing| outgoing.event_id);
            let key = (event_id.map(ToString::to_string).unwrap_or_default(), cluster);
            self.deliveries.entry(key).or_default().arrived_ms.push(now_ms);
            outcomes.push((*id, EntryOutcome::Accepted));
        }
        Ok(outcomes)
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        let index: usize = name.strip_prefix("cluster-")?.parse().ok()?;
        (index < self.clusters).then_some(index)
    }

    fn maybe_fail(&mut self) -> Result<(), CallFailure> {
        if !self.rng.chance(self.faults.calls_per_mille) {
            return Ok(());
        }
        self.injected += 1;
        match self.rng.below(3) {
            0 => Err(CallFailure::Throttled { retry_after_ms: 0 }),
            1 => Err(CallFailure::Unavailable("503 Service Unavailable".to_owned())),
            _ => Err(CallFailure::Unavailable("the call took too long".to_owned())),
        }
    }

    /// Compares what arrived with what should have.
    pub(super) fn judge(&self, report: &mut SimulationReport) {
        report.faults = self.injected;
        let mut deliveries: Vec<_> = self.deliveries.values().collect();
        deliveries.sort_by_key(|delivery| delivery.arrived_ms.first().copied());
        for delivery in deliveries {
            report.deliveries += delivery.arrived_ms.len() as u64;
            report.lost += u64::from(delivery.expected && delivery.arrived_ms.is_empty());
            if !delivery.expected {
                report.misdelivered += delivery.arrived_ms.len() as u64;
            }
            let again = delivery.arrived_ms.windows(2);
            let again = again.filter(|pair| pair[1].saturating_sub(pair[0]) < NOT_REPEATED_MS);
            report.repeated += again.count() as u64;
        }
    }
}
