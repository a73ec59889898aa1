//! Places that are promised: a pod that was given one is not placed again while the promise holds.
//!
//! The cluster's scheduler does not know of promises. It fills nodes that are up as it likes, so a
//! place may be taken by a pod that was meant for another node; then the promise ends at once.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::node::BoundPod;
use kerf_model::pod::Pod as PodInWords;
use kerf_model::resources::ResourceList;
use rustc_hash::FxHashMap;

use super::super::disruption;
use super::waiting;
use crate::condition::claim::INITIALIZED;
use crate::memory::Nomination;
use crate::observed::{Claim, Name, Node, Pod};
use crate::settings::Settings;
use crate::time::{Span, Time};
use crate::world::World;

/// How far a promise has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NominationTarget {
    /// There is none, or it no longer holds.
    Void,
    /// Its node is up and has no room any more: others were faster.
    Taken,
    /// Its node is on its way.
    Coming,
    /// Its node is up and has room; the pod may come any moment.
    Open,
}

/// Judges promises; what is left of nodes is read once.
pub(super) struct Promises<'a> {
    world: &'a World,
    now: Time,
    left: FxHashMap<&'a str, ResourceList>,
}

/// The shortest time a promise holds once its node is up.
const PROMISE_MIN: Span = Span::from_seconds(10);

/// How long a promise holds once its node is up: the cluster's scheduler needs a moment.
pub(super) fn promise(settings: &Settings) -> Span {
    PROMISE_MIN.max(settings.batch_max.times(2))
}

impl<'a> Promises<'a> {
    pub(super) fn new(world: &'a World, now: Time) -> Self {
        Self { world, now, left: FxHashMap::default() }
    }

    /// The promise a pod has.
    pub(super) fn of(&mut self, pod: &Pod) -> NominationTarget {
        let nomination = self.world.memory.nominations.get(&pod.key);
        match nomination.filter(|nomination| nomination.uid == pod.meta.uid) {
            Some(nomination) => self.judge(nomination, pod),
            None => NominationTarget::Void,
        }
    }

    fn judge(&mut self, nomination: &'a Nomination, pod: &Pod) -> NominationTarget {
        let (world, now) = (self.world, self.now);
        let target = &nomination.target;
        let lasts_from = |up_at: Time| now < up_at.max(nomination.at) + promise(&world.settings);
        if let Some(claim) = world.claims.get(target) {
            return match initialized_at(claim) {
                _ if world.is_leaving(claim) => NominationTarget::Void,
                None => NominationTarget::Coming,
                Some(up_at) if lasts_from(up_at) => match world.node_of(claim) {
                    Some(node) => self.if_room(node, pod),
                    None => NominationTarget::Coming,
                },
                Some(_) => NominationTarget::Void,
            };
        }
        if world.memory.creating.contains_key(target) {
            return NominationTarget::Coming;
        }
        match world.nodes.get(target).filter(|node| !world.is_node_leaving(node)) {
            Some(node) if lasts_from(nomination.at) => self.if_room(node, pod),
            _ => NominationTarget::Void,
        }
    }

    /// Open if the node has room for the pod beside those that stand there.
    fn if_room(&mut self, node: &'a Node, pod: &Pod) -> NominationTarget {
        let world = self.world;
        let left = self.left.entry(&node.meta.name).or_insert_with(|| {
            let mut left = node.allocatable.clone();
            let pods = world.pods_on(&node.meta.name);
            pods.for_each(|there| left.subtract(&there.shape.requests));
            left
        });
        if pod.shape.requests.fits(left) { NominationTarget::Open } else { NominationTarget::Taken }
    }
}

/// The pods that hold a promise and have not come yet, by the claim or node they are meant for.
pub(super) fn expected(world: &World, now: Time) -> BTreeMap<&str, Vec<&Pod>> {
    let mut promises = Promises::new(world, now);
    let mut expected: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for (key, nomination) in &world.memory.nominations {
        let Some(pod) = world.pods.get(key) else { continue };
        let is_kept =
            |promise| matches!(promise, NominationTarget::Coming | NominationTarget::Open);
        if waiting::may_need_place(world, pod) && is_kept(promises.of(pod)) {
            expected.entry(&nomination.target).or_default().push(pod);
        }
    }
    expected
}

/// The claims and nodes that pods are meant for, which must therefore be left alone.
pub(in crate::planners) fn targets_in_use(world: &World, now: Time) -> BTreeSet<Name> {
    let shielded = world.memory.nominated_until.iter().filter(|(_, until)| now < **until);
    let shielded = shielded.map(|(target, _)| target.clone());
    let expected = expected(world, now).into_keys().map(Name::from);
    shielded.chain(expected).chain(disruption::targets(world)).collect()
}

/// What commands hold on nodes for pods that will come, beyond those that are placed now or
/// expected already, by claim or node.
pub(super) fn held<'a>(
    world: &'a World,
    asked: &[&Pod],
    expected: &BTreeMap<&str, Vec<&Pod>>,
) -> BTreeMap<&'a str, Vec<BoundPod>> {
    let mut by_target: BTreeMap<&str, Vec<BoundPod>> = BTreeMap::new();
    let placed: Vec<&Pod> = asked.iter().chain(expected.values().flatten()).copied().collect();
    for (target, held) in disruption::held(world, &placed) {
        // The pod has no name yet; that of the one it comes for is free by then.
        let pod = PodInWords {
            name: held.pod.name.to_string(),
            uid: format!("held:{}", held.pod),
            created_at: 0,
            shape: held.shape.clone(),
        };
        let bound = BoundPod { pod, is_daemon: false, is_leaving: false };
        by_target.entry(target).or_default().push(bound);
    }
    by_target
}

fn initialized_at(claim: &Claim) -> Option<Time> {
    let condition = claim.status.conditions.get(INITIALIZED)?;
    claim.status.conditions.is_true(INITIALIZED).then_some(condition.changed_at)
}
