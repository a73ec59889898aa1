//! Commands with replacements and destinations, proposed by a method of the tests' own.

#![allow(clippy::unwrap_used)]

mod crash;
mod destination;
mod replacement;

use std::sync::Arc;

use kerf_model::budget::DisruptionReason;
use kerf_model::labels::well_known::NODE_POOL;

use super::candidates::Candidate;
use super::method::{Method, Way};
use crate::action::NewClaim;
use crate::cluster::{self, Cluster, pod_key};
use crate::command::{Command, Destination};
use crate::event::{Key, Object};
use crate::observed::{Name, Pod};
use crate::time::Time;
use crate::world::World;

/// Disrupts claims with the annotation [`REPLACE`]. Its value names the claim their pods go to;
/// where it is empty a replacement of the same kind comes.
pub(super) struct Replace;

const REPLACE: &str = "test.kerf.sh/replace";

impl Method for Replace {
    fn reason(&self) -> DisruptionReason {
        DisruptionReason::Underutilized
    }

    fn consolidation_type(&self, _: usize) -> &'static str {
        "test"
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn candidates<'a>(&self, world: &'a World, now: Time) -> Vec<Candidate<'a>> {
        let candidates = world.claims.values().filter_map(|claim| Candidate::of(world, claim));
        let free = candidates.filter(|each| !world.is_leaving(each.claim));
        free.filter(|each| self.is_candidate(world, each, now)).collect()
    }

    fn is_candidate(&self, _: &World, candidate: &Candidate<'_>, _: Time) -> bool {
        candidate.claim.annotations().contains_key(REPLACE)
    }

    fn way(&self) -> Way {
        Way::Plan(replace)
    }
}

fn replace(world: &World, candidates: &[Candidate<'_>], now: Time) -> Vec<Command> {
    let (mut replacements, mut destinations) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let named = candidate.claim.annotations()[REPLACE].as_str();
        let target: Name = if named.is_empty() {
            let claim = replacement(candidate, now);
            let name = Arc::from(claim.spec.name.as_str());
            replacements.push(claim);
            name
        } else {
            named.into()
        };
        let hold = |pod: &Pod| Destination {
            candidate: candidate.claim.meta.name.clone(),
            pod: pod.key.clone(),
            shape: pod.shape.clone(),
            target: target.clone(),
        };
        destinations.extend(candidate.reschedulable_pods(world).map(hold));
    }
    let candidates: Vec<_> = candidates.iter().map(Candidate::reference).collect();
    match candidates.is_empty() {
        true => Vec::new(),
        false => {
            let reason = Replace.reason();
            vec![Command::proposed(reason, candidates, replacements, destinations, now)]
        }
    }
}

fn replacement(candidate: &Candidate<'_>, now: Time) -> NewClaim {
    let mut spec = candidate.claim.spec.clone();
    spec.name = format!("{}-replacement-{}", spec.name, now.seconds() % 100_000);
    spec.annotations.clear();
    spec.labels.retain(|key, _| key == NODE_POOL);
    let pool = &candidate.pool.meta;
    NewClaim { spec, pool: (pool.name.clone(), pool.uid.clone()) }
}

/// Marks the claim under a pod to be disrupted. Returns its name.
fn disrupt(cluster: &mut Cluster, pod: &str, target: &str) -> Name {
    let claim = cluster.claim_under(pod);
    let target = target.to_owned();
    cluster.edit(&Key::Claim(claim.clone()), |object| {
        let Object::Claim(claim) = object else { unreachable!("a claim's key") };
        claim.spec.annotations.insert(REPLACE.to_owned(), target);
    });
    claim
}

/// What the cluster's own controllers do: a pod that was evicted comes back under another name,
/// and pods are bound where they are meant to go.
fn controllers(cluster: &mut Cluster, pod: &str, again: &str, cpu: &str) {
    let is_there = |cluster: &Cluster, name| cluster.objects.contains_key(&Key::Pod(pod_key(name)));
    if !is_there(cluster, pod) && !is_there(cluster, again) {
        cluster.pend(again, cpu);
    }
    cluster.bind();
}

/// Lets time pass with [`controllers`] at work.
fn live(cluster: &mut Cluster, seconds: u64) {
    for _ in 0..seconds {
        cluster.seconds(1);
        controllers(cluster, "pod-0", "pod-0-again", "7");
        cluster.settle();
    }
}
