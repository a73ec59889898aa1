//! Nominations: a pod that was given a place is not placed again while its nomination holds.
//!
//! The cluster's scheduler does not know of nominations. It fills nodes that are up as it likes, so a
//! place may be taken by a pod that was meant for another node; then the nomination ends at once.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::node::BoundPod;
use kerf_model::pod::Pod as ModelPod;
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

/// How far a nomination has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NominationState {
    /// There is none, or it no longer holds.
    Void,
    /// Its node is up and has no capacity for the pod any more: others were faster.
    Taken,
    /// Its node is on its way.
    Coming,
    /// Its node is up and has capacity; the pod may come any moment.
    Open,
}

/// Judges nominations; free capacity of nodes is read once.
pub(super) struct Nominations<'a> {
    world: &'a World,
    now: Time,
    left: FxHashMap<&'a str, ResourceList>,
}

/// The shortest time a nomination holds once its node is up.
const NOMINATION_MIN: Span = Span::from_seconds(10);

/// How long a nomination holds once its node is up: the cluster's scheduler needs a moment.
pub(super) fn nomination_span(settings: &Settings) -> Span {
    NOMINATION_MIN.max(settings.batch_max.times(2))
}

impl<'a> Nominations<'a> {
    pub(super) fn new(world: &'a World, now: Time) -> Self {
        Self { world, now, left: FxHashMap::default() }
    }

    /// The state of a pod's nomination.
    pub(super) fn of(&mut self, pod: &Pod) -> NominationState {
        let nomination = self.world.memory.nominations.get(&pod.key);
        match nomination.filter(|nomination| nomination.uid == pod.meta.uid) {
            Some(nomination) => self.judge(nomination, pod),
            None => NominationState::Void,
        }
    }

    fn judge(&mut self, nomination: &'a Nomination, pod: &Pod) -> NominationState {
        let (world, now) = (self.world, self.now);
        let target = &nomination.target;
        let lasts_from =
            |up_at: Time| now < up_at.max(nomination.at) + nomination_span(&world.settings);
        if let Some(claim) = world.claims.get(target) {
            return match initialized_at(claim) {
                _ if world.is_leaving(claim) => NominationState::Void,
                None => NominationState::Coming,
                Some(up_at) if lasts_from(up_at) => match world.node_of(claim) {
                    Some(node) => self.if_it_fits(node, pod),
                    None => NominationState::Coming,
                },
                Some(_) => NominationState::Void,
            };
        }
        if world.memory.creating.contains_key(target) {
            return NominationState::Coming;
        }
        match world.nodes.get(target).filter(|node| !world.is_node_leaving(node)) {
            Some(node) if lasts_from(nomination.at) => self.if_it_fits(node, pod),
            _ => NominationState::Void,
        }
    }

    /// Open if the pod fits on the node beside those that are there.
    fn if_it_fits(&mut self, node: &'a Node, pod: &Pod) -> NominationState {
        let world = self.world;
        let left = self.left.entry(&node.meta.name).or_insert_with(|| {
            let mut left = node.allocatable.clone();
            let pods = world.pods_on(&node.meta.name);
            pods.for_each(|there| left.subtract(&there.shape.requests));
            left
        });
        if pod.shape.requests.fits(left) { NominationState::Open } else { NominationState::Taken }
    }
}

/// The pods that have a nomination and have not come yet, by the claim or node they are meant for.
pub(super) fn nominated_pods(world: &World, now: Time) -> BTreeMap<&str, Vec<&Pod>> {
    let mut nominations = Nominations::new(world, now);
    let mut expected: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for (key, nomination) in &world.memory.nominations {
        let Some(pod) = world.pods.get(key) else { continue };
        let is_kept = |state| matches!(state, NominationState::Coming | NominationState::Open);
        if waiting::may_need_place(world, pod) && is_kept(nominations.of(pod)) {
            expected.entry(&nomination.target).or_default().push(pod);
        }
    }
    expected
}

/// The claims and nodes that pods are meant for, which must therefore be left alone.
pub(in crate::planners) fn targets_in_use(world: &World, now: Time) -> BTreeSet<Name> {
    let shielded = world.memory.nominated_until.iter().filter(|(_, until)| now < **until);
    let shielded = shielded.map(|(target, _)| target.clone());
    let expected = nominated_pods(world, now).into_keys().map(Name::from);
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
        let pod = ModelPod {
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
