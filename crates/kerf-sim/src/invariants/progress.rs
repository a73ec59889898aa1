//! Progress: what can be placed is placed, what is deleted goes.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::observed::{Claim, Pod, PodPhase, VolumeAttachment};
use kerf_engine::time::{Span, Time};
use kerf_model::taint::disrupted;

use super::drain::is_stuck;
use super::place::place_of;
use super::true_state::{model_pod, problem};
use super::{Checker, Rule};
use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::matching::tolerates;
use crate::scenario::Scenario;
use crate::store::Store;

/// A pod has a place after so long when nothing goes wrong: batching, launch, boot and two tries.
const PLACED_WITHIN_CALM: Span = Span::from_minutes(5);
/// The same when things do go wrong: an instance that never joins is given up after 15 minutes, and
/// the one after it may be such an instance, too.
const PLACED_WITHIN_FAULTY: Span = Span::from_minutes(40);
/// What nothing holds up is gone after so long when nothing goes wrong.
const GONE_WITHIN_CALM: Span = Span::from_minutes(5);
/// The same when things do go wrong.
const GONE_WITHIN_FAULTY: Span = Span::from_minutes(20);
/// Pods that differ looked at in one go; each takes a look at every offering.
const SHAPES_MAX: usize = 5;
/// Looking at all pods takes a while.
const LOOK_EVERY: Span = Span::from_minutes(1);

impl Checker {
    pub(super) fn check_stuck(&mut self, store: &Store, scenario: &Scenario) {
        let within = if scenario.has_faults() { GONE_WITHIN_FAULTY } else { GONE_WITHIN_CALM };
        // A budget may hold a node up for long; only the time since nothing does counts.
        let mut free_since = BTreeMap::new();
        for claim in store.claims.values() {
            if !claim.meta.is_deleting() || !is_free(store, claim, self.now) {
                continue;
            }
            let name = &claim.meta.name;
            let since = self.free_since.get(name).copied().unwrap_or(self.now);
            free_since.insert(name.clone(), since);
            // While a kind is not heard of nothing is known to be drained or detached, and watches
            // may stall one after another.
            let overdue = self.now.since(since.max(self.deaf_until));
            if overdue > within && overdue <= within.times(2) {
                let what = format!("nothing holds {name} up, and yet its deletion does not end");
                if !self.violations.iter().any(|known| known.what == what) {
                    self.object(Rule::Stuck, what);
                }
            }
        }
        self.free_since = free_since;
    }

    pub(super) fn check_progress(
        &mut self,
        store: &Store,
        cloud: &Cloud,
        scenario: &Scenario,
        workloads: &Workloads,
    ) {
        if self.now.since(self.last_look_at_pods) < LOOK_EVERY {
            return;
        }
        self.last_look_at_pods = self.now;
        let within = if scenario.has_faults() { PLACED_WITHIN_FAULTY } else { PLACED_WITHIN_CALM };
        let waiting = store.pods.values().map(Arc::as_ref).filter(|pod: &&Pod| {
            matches!(pod.phase, PodPhase::Unjudged | PodPhase::Unschedulable { .. })
                && self.now.since(pod.meta.created_at) > within
        });
        let overdue: Vec<&Pod> = waiting.collect();
        if overdue.is_empty() {
            return;
        }
        // Replicas are alike, and what there is for one of them is enough to say so.
        let mut unlike: Vec<&Pod> = Vec::new();
        for pod in &overdue {
            if unlike.len() < SHAPES_MAX && !unlike.iter().any(|it| it.shape == pod.shape) {
                unlike.push(pod);
            }
        }
        let nodes = self.standing.of(store);
        let has_place = |pod: &&&Pod| {
            let pod = vec![model_pod(pod)];
            place_of(&problem(pod, nodes.clone(), store, cloud, workloads)).is_some()
        };
        if let Some(pod) = unlike.iter().find(has_place) {
            let (count, minutes) = (overdue.len(), within.seconds() / 60);
            let pod = &pod.key;
            let what =
                format!("{count} pods wait over {minutes} minutes, {pod} for a place there is");
            let rule = Rule::Progress;
            if !self.violations.iter().any(|known| known.rule == rule) {
                self.object(rule, what);
            }
        }
    }
}

/// Whether neither pods nor volumes keep the node of a claim. Pods that are stuck because their
/// kubelet is dead keep nothing, nor do their volumes.
fn is_free(store: &Store, claim: &Claim, now: Time) -> bool {
    let Some(node) = store.node_of(claim) else { return true };
    let pods = || store.pods_on(&node.meta.name);
    let holds = |pod: &Pod| !tolerates(&pod.shape, &[disrupted()]) && !is_stuck(pod, now);
    let is_stuck_with = |attached: &VolumeAttachment| {
        let own = |pod: &Pod| {
            let volumes = pod.shape.volumes.iter();
            let mut claims = volumes.map(|volume| Some(volume.claim.as_str()));
            claims.any(|claim| claim == attached.volume_claim.as_deref())
        };
        pods().any(|pod| own(pod) && is_stuck(pod, now))
    };
    let mut attached = store.attachments.values().filter(|it| it.node == node.meta.name);
    !pods().any(holds) && attached.all(|it| is_stuck_with(it))
}
