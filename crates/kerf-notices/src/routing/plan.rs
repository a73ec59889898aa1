//! One record: from its event to its deliveries, and from these to its verdict.

use std::sync::Arc;

use smallvec::SmallVec;

use super::batch::{Batch, Item, Progress};
use super::delivered::DeliveryKey;
use super::delivery::{Deliveries, Entry, EntryState};
use super::memory::{EveryCluster, Ownership};
use super::queue_search::Destination;
use super::static_map::Route;
use super::verdict::{Failure, Outcome, RoutingVerdict, Unrouted};
use super::{CallFailure, Owner, RoutedCluster, Router};
use crate::message::{self, Instances, Kind};

/// Said of an event for every cluster while nobody knows them yet.
const STILL_SEARCHING: &str = "the clusters are still being searched for";

/// What each queue hears of an event; nearly always one part.
type Parts = SmallVec<[Part; 1]>;

/// A queue, whose it is, and the instances it hears about.
struct Part {
    queue: Arc<str>,
    cluster: Option<RoutedCluster>,
    /// Places in the event's list of instances.
    instances: SmallVec<[usize; 2]>,
}

/// What an attempt to plan gave.
enum Planned {
    /// Something is being asked for.
    NotYet,
    Failed(Failure),
    /// Queues, and why some or all of the event goes to none.
    Parts(Parts, Option<Unrouted>),
}

impl Batch {
    /// Plans an open record's deliveries if everything needed for that is known.
    pub(super) fn plan_item(&mut self, router: &Router, index: usize, now_ms: u64) {
        let planned = match self.items[index].event.as_ref().map(|event| event.event.kind) {
            Some(kind) => match self.other_place(router, index) {
                Some(reason) => Planned::Parts(Parts::new(), Some(reason)),
                None if kind == Kind::ZonalShift => self.plan_broadcast(router, index, now_ms),
                None => self.plan_owned(router, index, now_ms),
            },
            // A record without an event has its verdict from the start.
            None => return,
        };
        let item = &mut self.items[index];
        match planned {
            Planned::NotYet => {}
            Planned::Failed(failure) => {
                item.progress = Progress::Done(RoutingVerdict::Failed(failure));
            }
            Planned::Parts(parts, unrouted) => {
                let start = self.deliveries.len();
                let parts = with_unrouted(router, item, parts, unrouted);
                let several = parts.len() > 1;
                for part in parts {
                    let entry = entry(item, index, part, several);
                    let bytes = entry.split.as_deref().unwrap_or_else(|| item.text()).len();
                    self.deliveries.add(router, entry, bytes, now_ms);
                }
                item.progress = Progress::Sending(start..self.deliveries.len(), unrouted);
            }
        }
    }

    /// Why an event is none of this router's, by where it comes from.
    fn other_place(&self, router: &Router, index: usize) -> Option<Unrouted> {
        let scope = &self.items[index].event.as_ref()?.scope;
        router.settings.other_place(scope)
    }

    /// An event for every cluster, or for the clusters it names.
    fn plan_broadcast(&mut self, router: &Router, index: usize, now_ms: u64) -> Planned {
        let event = self.items[index].event.as_ref().expect("the caller looked at its kind");
        let foreign = event.foreign && !event.event.clusters.is_empty();
        let names: Vec<Arc<str>> = match event.event.clusters.is_empty() {
            false => event.event.clusters.iter().map(|name| name.as_str().into()).collect(),
            true => match router.every_cluster(now_ms) {
                Ok(EveryCluster { names, denied }) => {
                    denied.iter().for_each(|failure| self.note(failure));
                    names
                }
                Err(_) if now_ms < self.clusters_until_ms => {
                    self.awaits_clusters = true;
                    return Planned::NotYet;
                }
                Err(failure) => {
                    let searching = || CallFailure::Unavailable(STILL_SEARCHING.to_owned());
                    let failure = failure.unwrap_or_else(searching);
                    return Planned::Failed(Failure::QueueLookup(failure));
                }
            },
        };
        let mut unrouted = names.is_empty().then_some(Unrouted::NoClusters);
        let (mut parts, mut waiting) = (Parts::new(), false);
        for name in names {
            let cluster = RoutedCluster { name, foreign };
            match self.searches.destination(router, &cluster, now_ms) {
                None => waiting = true,
                Some(Destination::Failed(failure)) => {
                    return Planned::Failed(Failure::QueueLookup(failure));
                }
                Some(Destination::NoQueue(why)) => unrouted = Some(why),
                Some(Destination::Routes(routes)) => {
                    for route in routes.iter().filter(|route| route.wants(Kind::ZonalShift)) {
                        add(&mut parts, &route.url, &cluster, None);
                    }
                }
            }
        }
        if waiting { Planned::NotYet } else { Planned::Parts(parts, unrouted) }
    }

    /// An event for the owners of its instances.
    fn plan_owned(&mut self, router: &Router, index: usize, now_ms: u64) -> Planned {
        match self.find_owners(router, index, now_ms) {
            Ok(true) => {}
            Ok(false) => return Planned::NotYet,
            Err(failure) => return Planned::Failed(Failure::Lookup(failure)),
        }
        let event = self.items[index].event.as_ref().expect("the caller looked at its kind");
        let (mut parts, mut unrouted, mut waiting) = (Parts::new(), None, false);
        for (place, owner) in event.owners.iter().enumerate() {
            let Ownership::Owned(owner) = owner else {
                unrouted = Some(Unrouted::NoTag);
                continue;
            };
            for name in &owner.clusters {
                let cluster = RoutedCluster { name: Arc::clone(name), foreign: event.foreign };
                match self.searches.destination(router, &cluster, now_ms) {
                    None => waiting = true,
                    Some(Destination::Failed(failure)) => {
                        return Planned::Failed(Failure::QueueLookup(failure));
                    }
                    Some(Destination::NoQueue(why)) => unrouted = Some(why),
                    Some(Destination::Routes(routes)) => {
                        let wanting = wanting(&routes, event.event.kind, owner);
                        if wanting.is_empty() {
                            unrouted = Some(Unrouted::NoRoute);
                        }
                        for route in wanting {
                            add(&mut parts, &route.url, &cluster, Some(place));
                        }
                    }
                }
            }
        }
        if waiting { Planned::NotYet } else { Planned::Parts(parts, unrouted) }
    }

    /// Fills in the owners of a record's instances. True when all are known.
    fn find_owners(
        &mut self,
        router: &Router,
        index: usize,
        now_ms: u64,
    ) -> Result<bool, CallFailure> {
        let event = self.items[index].event.as_mut().expect("the caller looked at its kind");
        let first_time = !event.counted;
        event.counted = true;
        let (mut owners, mut complete) = (SmallVec::new(), true);
        let (mut hits, mut failed) = (0, None);
        for id in &event.event.instances {
            let key = (Arc::clone(&event.scope), *id);
            if let Some(ownership) = router.ownership(&key, now_ms) {
                hits += 1;
                owners.push(ownership);
                continue;
            }
            match self.lookups.ownership(&key) {
                Some(Ok(ownership)) => owners.push(ownership),
                Some(Err(failure)) => failed = Some(failure),
                None => complete = false,
            }
        }
        if first_time {
            self.report.cache_hits += hits;
            self.report.cache_misses += event.event.instances.len() as u64 - hits;
        }
        if !complete {
            return Ok(false);
        }
        // A part of the instances must not be sent: a later delivery could not be told from it.
        match failed {
            Some(failure) => Err(failure),
            None => {
                event.owners = owners;
                Ok(true)
            }
        }
    }
}

fn add(parts: &mut Parts, url: &Arc<str>, cluster: &RoutedCluster, place: Option<usize>) {
    let known = parts.iter().position(|part| part.queue == *url);
    let index = known.unwrap_or_else(|| {
        let (queue, cluster) = (Arc::clone(url), Some(cluster.clone()));
        parts.push(Part { queue, cluster, instances: SmallVec::new() });
        parts.len() - 1
    });
    let instances = &mut parts[index].instances;
    if let Some(place) = place
        && instances.last() != Some(&place)
    {
        instances.push(place);
    }
}

/// The routes for an instance: those that ask for a tag it carries, otherwise those that ask for
/// none. So a queue for provisioned nodes and one for the rest share a cluster.
fn wanting<'a>(routes: &'a [Route], kind: Kind, owner: &Owner) -> SmallVec<[&'a Route; 2]> {
    let carries = |index: u32| owner.required_tags & 1 << index != 0;
    let wants = || routes.iter().filter(|route| route.wants(kind));
    let special: SmallVec<_> =
        wants().filter(|route| route.required_tag.is_some_and(carries)).collect();
    if special.is_empty() {
        return wants().filter(|route| route.required_tag.is_none()).collect();
    }
    special
}

/// The parts, with one more for what belongs to nobody if there is a queue for that.
fn with_unrouted(
    router: &Router,
    item: &Item,
    mut parts: Parts,
    unrouted: Option<Unrouted>,
) -> Parts {
    if let (Some(queue), Some(_)) = (&router.settings.unrouted_queue, unrouted) {
        let all = item.event.as_ref().map_or(0, |event| event.event.instances.len());
        let routed = |place: &usize| parts.iter().any(|part| part.instances.contains(place));
        let instances: SmallVec<_> = (0..all).filter(|place| !routed(place)).collect();
        if !instances.is_empty() || parts.is_empty() {
            parts.push(Part { queue: Arc::clone(queue), cluster: None, instances });
        }
    }
    parts
}

/// The delivery for one part of an event. Where there are several, each is cut down to its own.
fn entry(item: &Item, index: usize, part: Part, several: bool) -> Entry {
    let Part { queue, cluster, instances } = part;
    let mut entry = Entry::new(index, Arc::clone(&queue), cluster);
    let Some(event) = &item.event else { return entry };
    let all = &event.event.instances;
    let whole = !several || instances.len() == all.len();
    let mut only = None;
    if !whole {
        let kept: Arc<[_]> =
            instances.iter().filter_map(|place| all.get(*place)).copied().collect();
        entry.split = message::only_with(item.text(), |id| kept.contains(&id));
        only = Some(kept);
    }
    let id = event.event.id.clone();
    entry.key = id.map(|id| DeliveryKey::new(id, event.event.page, only, queue));
    entry
}

impl Item {
    /// What became of the record, by its deliveries.
    pub(super) fn outcome(self, deliveries: &Deliveries) -> Outcome {
        let (mut queues, mut suppressed) = (SmallVec::new(), 0);
        let verdict = match self.progress {
            Progress::Done(verdict) => verdict,
            Progress::Open => RoutingVerdict::Failed(Failure::OutOfTime),
            Progress::Sending(range, unrouted) => {
                let entries = deliveries.of(range);
                for entry in entries {
                    let state = decisive(deliveries, entry);
                    if matches!(state, EntryState::Accepted | EntryState::Suppressed) {
                        queues.push(Arc::clone(&entry.queue));
                    }
                    suppressed += usize::from(
                        !matches!(entry.state, EntryState::Accepted)
                            && matches!(state, EntryState::Accepted | EntryState::Suppressed),
                    );
                }
                verdict(deliveries, entries, unrouted)
            }
        };
        let (mut clusters, mut ambiguous) = (SmallVec::<[_; 1]>::new(), false);
        let (mut event_id, mut kind, mut instances) = (None, None, Instances::new());
        if let Some(event) = self.event {
            for owner in &event.owners {
                if let Ownership::Owned(owner) = owner {
                    clusters.extend(owner.clusters.iter().cloned());
                    ambiguous |= owner.is_ambiguous();
                }
            }
            clusters.sort_unstable();
            clusters.dedup();
            event_id = event.event.id;
            kind = Some(event.event.kind);
            instances = event.event.instances;
        }
        let message_id = self.message_id;
        Outcome {
            message_id,
            event_id,
            kind,
            instances,
            clusters,
            queues,
            suppressed,
            ambiguous,
            verdict,
        }
    }
}

/// The state of an entry, or of the one it rides on.
fn decisive<'a>(deliveries: &'a Deliveries, entry: &'a Entry) -> &'a EntryState {
    match entry.state {
        EntryState::Rides(first) => deliveries.entry(first).map_or(&entry.state, |e| &e.state),
        _ => &entry.state,
    }
}

fn verdict(
    deliveries: &Deliveries,
    entries: &[Entry],
    unrouted: Option<Unrouted>,
) -> RoutingVerdict {
    let (mut reached, mut no_queue) = (false, false);
    for entry in entries {
        match decisive(deliveries, entry) {
            EntryState::Accepted | EntryState::Suppressed => reached |= entry.cluster.is_some(),
            EntryState::NoQueue => no_queue = true,
            EntryState::Failed(why) => {
                let (queue, why) = (Arc::clone(&entry.queue), why.clone());
                return RoutingVerdict::Failed(Failure::Send { queue, why });
            }
            _ => return RoutingVerdict::Failed(Failure::OutOfTime),
        }
    }
    match (reached, no_queue, unrouted) {
        (true, _, _) => RoutingVerdict::Routed,
        (false, true, _) => RoutingVerdict::Unrouted(Unrouted::NoQueue),
        (false, false, why) => RoutingVerdict::Unrouted(why.unwrap_or(Unrouted::NoRoute)),
    }
}
