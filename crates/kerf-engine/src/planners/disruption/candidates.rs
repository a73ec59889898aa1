//! Which nodes may be taken away at all.

use std::collections::BTreeSet;

use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use kerf_model::price::Price;
use kerf_model::requirement::Operator;

use super::method::Method;
use super::pdbs::{Held, Pdbs};
use crate::command::CandidateRef;
use crate::condition::claim::{INITIALIZED, REBOOTING, REGISTERED};
use crate::observed::{Claim, Name, Node, Pod, Pool};
use crate::planners::provisioning::targets_in_use;
use crate::reason::Blocked;
use crate::time::Time;
use crate::world::World;

/// A node that may be taken away, as far as it and its pods are concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) claim: &'a Claim,
    pub(super) node: &'a Node,
    pub(super) pool: &'a Pool,
}

/// Answers whether nodes may be taken away; what it takes to answer is read once.
pub(super) struct Judge<'a> {
    world: &'a World,
    now: Time,
    pdbs: Pdbs<'a>,
    in_use: BTreeSet<Name>,
}

impl<'a> Candidate<'a> {
    /// A claim with a node of its own that is up, and a pool that is known with its instances.
    /// Anything else is nothing that could be taken away by choice, and nobody is told.
    pub(super) fn of(world: &'a World, claim: &'a Claim) -> Option<Self> {
        Self::registered(world, claim).filter(Self::is_up)
    }

    /// The same, whether its node has come up fully or only joined.
    pub(super) fn registered(world: &'a World, claim: &'a Claim) -> Option<Self> {
        let node = world.node_of(claim)?;
        let pool = world.pools.get(claim.pool()?)?;
        let has_joined = claim.status.conditions.is_true(REGISTERED);
        let is_known = world.instance_types.contains_key(&pool.meta.name);
        let is_ours = world.is_supported(&claim.spec.node.node_class);
        (has_joined && is_known && is_ours).then_some(Self { claim, node, pool })
    }

    /// The candidate a command names, if it is still the same.
    pub(super) fn named(
        world: &'a World,
        method: &dyn Method,
        named: &CandidateRef,
    ) -> Option<Self> {
        let claim = world.claims.get(&named.claim).filter(|claim| claim.meta.uid == named.uid)?;
        method.candidate(world, claim)
    }

    /// Whether its node has come up fully. One that has not is no node that a budget counts.
    pub(super) fn is_up(&self) -> bool {
        self.claim.status.conditions.is_true(INITIALIZED) && self.node.is_initialized()
    }

    /// How commands name it.
    pub(super) fn reference(&self) -> CandidateRef {
        CandidateRef::to(self.claim)
    }

    /// The pods that would want another place.
    pub(super) fn reschedulable_pods(&self, world: &'a World) -> impl Iterator<Item = &'a Pod> {
        world.pods_on(&self.node.meta.name).filter(|pod| pod.is_reschedulable())
    }

    /// What the node costs; nothing where that is not known.
    pub(super) fn price(&self, world: &World) -> Price {
        let label = |key: &str| self.node.labels.get(key).map(String::as_str);
        let kind =
            label(INSTANCE_TYPE).and_then(|name| world.instance_type(&self.pool.meta.name, name));
        let matching = kind.and_then(|kind| {
            kind.offerings.iter().find(|offering| {
                offering.requirements.iter().all(|entry| {
                    let is_told_apart = entry.key == ZONE || entry.key == CAPACITY_TYPE;
                    let listed = |value: &str| entry.values.iter().any(|each| each == value);
                    !is_told_apart
                        || entry.operator == Operator::In && label(&entry.key).is_some_and(listed)
                })
            })
        });
        matching.map_or(Price::ZERO, |offering| offering.price)
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(world: &'a World, now: Time) -> Self {
        Self { world, now, pdbs: Pdbs::new(world), in_use: targets_in_use(world, now) }
    }

    /// Whether the node may go by this method; if not, the nearest cause.
    pub(super) fn may_go(
        &mut self,
        method: &dyn Method,
        candidate: &Candidate<'a>,
    ) -> Result<(), Blocked> {
        let Candidate { claim, node, .. } = candidate;
        if claim.status.conditions.is_true(REBOOTING) || self.world.wants_reboot(claim) {
            return Err(Blocked::Rebooting);
        }
        if claim.meta.is_deleting() || node.meta.is_deleting() {
            return Err(Blocked::Deleting);
        }
        if candidate.is_up() && self.in_use.contains(&claim.meta.name) {
            return Err(Blocked::Nominated);
        }
        method.veto(self.world, candidate, self.now)?;
        if let Some(zone) = self.world.shifted_zone(&node.labels) {
            let (zone, id) = (zone.name.clone(), zone.id.clone());
            return Err(Blocked::ZoneShifted { zone, id });
        }
        // Pods that will not leave are deleted when the time of the node is over.
        if method.forces_pods(self.world, candidate, self.now) {
            return Ok(());
        }
        for pod in self.world.pods_on(&node.meta.name).filter(|pod| pod.is_active()) {
            self.may_leave(pod)?;
        }
        Ok(())
    }

    fn may_leave(&mut self, pod: &Pod) -> Result<(), Blocked> {
        let key = || pod.key.clone();
        if pod.is_protected(self.now) {
            return Err(Blocked::PodDoNotDisrupt { pod: key() });
        }
        match self.pdbs.holding(pod, self.now) {
            None => Ok(()),
            Some(Held::BySeveral) => Err(Blocked::SeveralPodDisruptionBudgets { pod: key() }),
            Some(Held::By(pdb)) => {
                let (namespace, name) = (pdb.namespace.clone(), pdb.meta.name.clone());
                Err(Blocked::PodDisruptionBudget { namespace, name, pod: key() })
            }
        }
    }
}
