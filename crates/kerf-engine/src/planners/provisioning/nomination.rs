//! Places that are promised: a pod that was given one is not placed again while the promise holds.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::node::BoundPod;

use super::waiting;
use crate::condition::claim::INITIALIZED;
use crate::memory::Nomination;
use crate::observed::{Claim, Name, Pod, PodOwner};
use crate::settings::Settings;
use crate::time::{Span, Time};
use crate::world::World;

/// The shortest time a promise holds once its node is up.
const PROMISE_MIN: Span = Span::from_seconds(10);

/// How long a promise holds once its node is up: the cluster's scheduler needs a moment.
pub(super) fn promise(settings: &Settings) -> Span {
    PROMISE_MIN.max(settings.batch_max.times(2))
}

/// Whether the place a pod was promised can still become one.
pub(super) fn holds(world: &World, nomination: &Nomination, now: Time) -> bool {
    let target = &nomination.target;
    let lasts_from = |up_at: Time| now < up_at.max(nomination.at) + promise(&world.settings);
    if let Some(claim) = world.claims.get(target) {
        return !world.is_leaving(claim) && initialized_at(claim).is_none_or(lasts_from);
    }
    if world.memory.creating.contains_key(target) {
        return true;
    }
    let node = world.nodes.get(target).filter(|node| !world.is_node_leaving(node));
    node.is_some_and(|_| lasts_from(nomination.at))
}

/// The promise a pod has, if it holds.
pub(super) fn promised<'a>(world: &'a World, pod: &Pod, now: Time) -> Option<&'a Nomination> {
    let nomination = world.memory.nominations.get(&pod.key)?;
    (nomination.uid == pod.meta.uid && holds(world, nomination, now)).then_some(nomination)
}

/// The pods that hold a promise and have not come yet, by the claim or node they are meant for.
pub(super) fn expected(world: &World, now: Time) -> BTreeMap<&str, Vec<&Pod>> {
    let mut expected: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
    for (key, nomination) in &world.memory.nominations {
        let Some(pod) = world.pods.get(key) else { continue };
        if pod.meta.uid == nomination.uid
            && waiting::may_need_place(world, pod)
            && holds(world, nomination, now)
        {
            expected.entry(&nomination.target).or_default().push(pod);
        }
    }
    expected
}

/// The claims and nodes that pods are meant for, which must therefore be left alone.
pub(in crate::planners) fn targets_in_use(world: &World, now: Time) -> BTreeSet<Name> {
    let shielded = world.memory.nominated_until.iter().filter(|(_, until)| now < **until);
    let shielded = shielded.map(|(target, _)| target.clone());
    shielded.chain(expected(world, now).into_keys().map(Name::from)).collect()
}

/// A pod in the words of the scheduler, as if it stood on a node.
pub(super) fn bound(pod: &Pod) -> BoundPod {
    BoundPod {
        pod: waiting::in_words(pod),
        is_daemon: pod.owner == PodOwner::DaemonSet,
        is_leaving: pod.meta.is_deleting(),
    }
}

fn initialized_at(claim: &Claim) -> Option<Time> {
    let condition = claim.status.conditions.get(INITIALIZED)?;
    claim.status.conditions.is_true(INITIALIZED).then_some(condition.changed_at)
}
