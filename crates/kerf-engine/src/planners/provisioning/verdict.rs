//! What to make of the solver's answer, in the world as it is by now.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_scheduler::{NewNode, PlacementProblem, Solution};

use super::claim_draft::{draft, mark_overlaid};
use super::claim_name::claim_name;
use super::usage::Usage;
use super::{nomination, pass, pool_choice, waiting};
use crate::action::NewClaim;
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::{KubernetesEvent, Rate};
use crate::memory::{Nomination, Update};
use crate::observed::{Name, Pod, Pool};
use crate::planners::disruption;
use crate::reason::NotPlaced;
use crate::sample::Sample;
use crate::time::Time;
use crate::world::World;

struct Verdict<'a> {
    world: &'a World,
    problem: &'a PlacementProblem,
    now: Time,
    /// Names given to new claims.
    names: BTreeSet<Name>,
    nominations_recorded: u32,
    decision: Decision,
}

/// How many Nominated Events are recorded at most; thousands may be placed in one pass.
const NOMINATED_AT_MOST: Rate = Rate { per_second: 5, burst: 10 };

/// Gives pods their places: nominations for nodes there are, claims for nodes there shall be. What
/// no longer holds is left out, and its pods are looked at again soon.
pub(super) fn carry_out(
    world: &World,
    problem: &PlacementProblem,
    solution: &Solution,
    now: Time,
) -> Decision {
    let (names, decision) = (BTreeSet::new(), Decision::default());
    let mut verdict = Verdict { world, problem, now, names, nominations_recorded: 0, decision };
    verdict.decision.remember(Update::PassEnded);
    for placement in &solution.existing {
        let pods = verdict.still_waiting(&placement.pods);
        match target(world, &problem.nodes[placement.node].name) {
            Some(target) => verdict.nominate(&pods, &target),
            None => verdict.call_again(&pods),
        }
    }
    if !solution.new_nodes.is_empty() {
        let mut usage = Usage::of(world);
        for (ordinal, node) in solution.new_nodes.iter().enumerate() {
            verdict.claim(node, ordinal, &mut usage);
        }
    }
    for unplaced in &solution.unplaced {
        for pod in verdict.still_waiting(&[unplaced.pod]) {
            let explanation = unplaced.reason.as_str().into();
            let cause = NotPlaced::Unschedulable { explanation };
            pass::refuse(pod, &cause, now, world, &mut verdict.decision);
        }
    }
    // The effort was spent before anybody looked at them: the next pass goes on with them.
    let deferred = verdict.still_waiting(&solution.deferred);
    verdict.call_again(&deferred);
    verdict.decision
}

/// Notes that a pass placed or refused a pod; the first time tells how long it took to decide.
pub(super) fn judge(pod: &Pod, placed: bool, now: Time, world: &World, decision: &mut Decision) {
    if let Some(wait) = world.memory.waits.get(&pod.key) {
        if wait.decided_at.is_none() {
            decision.samples.push(Sample::Took {
                metric: "karpenter_pods_scheduling_decision_duration_seconds",
                labels: Vec::new(),
                span: now.since(wait.seen_at),
            });
        }
        decision.remember(Update::Judged { pod: pod.key.clone(), at: now, placed });
    }
}

/// The claim, or the node without one, that a node of a problem stands for, if it stays.
pub(in crate::planners) fn target(world: &World, name: &str) -> Option<Name> {
    if let Some((name, node)) = world.nodes.get_key_value(name) {
        let claim = world.claim_of(node).map(|claim| claim.meta.name.clone());
        return (!world.is_node_leaving(node)).then(|| claim.unwrap_or_else(|| name.clone()));
    }
    if let Some((name, claim)) = world.claims.get_key_value(name) {
        return (!world.is_leaving(claim)).then(|| name.clone());
    }
    world.memory.creating.get_key_value(name).map(|(name, _)| name.clone())
}

impl<'a> Verdict<'a> {
    /// The pods among these that still need a place, and have none by now.
    fn still_waiting(&self, pods: &[usize]) -> Vec<&'a Pod> {
        let find = |index: &usize| waiting::asked(self.world, &self.problem.pods[*index]);
        let free = |pod: &&Pod| {
            waiting::may_need_place(self.world, pod) && !self.has_newer_nomination(pod)
        };
        pods.iter().filter_map(find).filter(free).collect()
    }

    /// Whether a pod was nominated after this solve was begun.
    fn has_newer_nomination(&self, pod: &Pod) -> bool {
        let memory = &self.world.memory;
        let nomination = memory.nominations.get(&pod.key);
        let nomination = nomination.filter(|nomination| nomination.uid == pod.meta.uid);
        nomination.is_some_and(|nomination| Some(nomination.at) > memory.batch.last_pass_at)
    }

    /// Makes the claim for a new node, unless its pods, its pool or the room for it are gone.
    fn claim(&mut self, node: &NewNode, ordinal: usize, usage: &mut Usage<'a>) {
        let pods = self.still_waiting(&node.pods);
        if pods.is_empty() {
            return;
        }
        let asked = &self.problem.pools[node.pool];
        let Some(pool) = self.open_pool(&asked.pool.name).filter(|pool| pool.spec == asked.pool)
        else {
            return self.call_again(&pods);
        };
        let (world, now) = (self.world, self.now);
        let name = claim_name(&pool.meta.name, &pool.meta.uid, now, ordinal, |name| {
            world.claims.contains_key(name)
                || world.memory.creating.contains_key(name)
                || self.names.contains(name)
        });
        let mut claim = draft(node, pool, &asked.instance_types, &name, &world.settings);
        mark_overlaid(&mut claim, node, world);
        self.forget_missing(&mut claim, node, &pods);
        if let Err(cause) = usage.take(&pool.spec, &claim) {
            for pod in pods {
                pass::refuse(pod, &cause, now, world, &mut self.decision);
            }
            return;
        }
        disruption::launched(world, &pool.meta.name, &pods, now, &mut self.decision);
        self.decision.remember(Update::Create(Box::new(claim)));
        self.nominate(&pods, &name);
        self.names.insert(name);
    }

    fn open_pool(&self, name: &str) -> Option<&'a Pool> {
        let pool = self.world.pools.get(name).map(Arc::as_ref);
        pool.filter(|pool| pool_choice::is_open(self.world, pool))
    }

    /// Pods that went meanwhile no longer count among what the node must offer.
    fn forget_missing(&self, claim: &mut NewClaim, node: &NewNode, pods: &[&Pod]) {
        if pods.len() == node.pods.len() {
            return;
        }
        for index in &node.pods {
            let asked = &self.problem.pods[*index];
            if !pods.iter().any(|pod| *pod.meta.uid == *asked.uid) {
                claim.spec.requests.subtract(&asked.shape.requests);
            }
        }
    }

    fn nominate(&mut self, pods: &[&Pod], target: &Name) {
        if pods.is_empty() {
            return;
        }
        let (world, now) = (self.world, self.now);
        let until = now + nomination::nomination_span(&world.settings);
        self.decision.remember(Update::Shield { target: target.clone(), until });
        let place = self.describe(target);
        for pod in pods {
            let nomination =
                Nomination { uid: pod.meta.uid.clone(), target: target.clone(), at: now };
            self.decision.remember(Update::Nominate { pod: pod.key.clone(), nomination });
            self.decision.remember(Update::Unplaced { pod: pod.key.clone(), cause: None });
            judge(pod, true, now, world, &mut self.decision);
            if self.nominations_recorded < NOMINATED_AT_MOST.burst {
                self.nominations_recorded += 1;
                let message = format!("Pod should schedule on: {place}");
                let about = Key::Pod(pod.key.clone());
                let event = KubernetesEvent::normal(about, "Nominated", message);
                self.decision.record(event.at_most(NOMINATED_AT_MOST));
            }
        }
    }

    fn describe(&self, target: &Name) -> String {
        match self.world.claims.get(target) {
            Some(claim) => match self.world.node_of(claim) {
                Some(node) => format!("nodeclaim/{target}, node/{}", node.meta.name),
                None => format!("nodeclaim/{target}"),
            },
            None if self.world.nodes.contains_key(target) => format!("node/{target}"),
            None => format!("nodeclaim/{target}"),
        }
    }

    /// These pods' places are gone; they are not made to wait for the next round.
    fn call_again(&mut self, pods: &[&Pod]) {
        for pod in pods {
            let caller = pod.meta.uid.clone();
            self.decision.remember(Update::Call { caller, at: self.now });
        }
    }
}
