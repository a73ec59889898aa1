//! The planners: plain functions from the world and the time to decisions.
//!
//! A subject is planned by one planner or more ([`plan`]); the [role](crate::role) says which of
//! them there are. [`on_change`] and [`on_delete`] say what to remember when an object changes,
//! while the former state is still known; [`conclude`] what to make of a finished action. None of
//! them can fail, wait, or change the world.

mod action_class;
mod claims;
pub(crate) mod disruption;
mod disruption_cost;
pub(crate) mod drain;
mod drift;
mod instances;
mod joining;
mod node_classes;
mod notices;
mod overlays;
mod pools;
mod provisioning;
mod reboot;
mod static_pools;
mod template_hash;
mod termination;
mod zonal_shift;

pub use disruption::consolidation_snapshot;
pub use provisioning::{DryRun, dry_run};

use crate::action::{Action, Subject};
use crate::decision::Decision;
use crate::event::{Key, Object, Outcome};
use crate::observed::Name;
use crate::time::Time;
use crate::world::World;
pub(crate) use action_class::class_of;
pub(crate) use claims::is_reserved;
pub(crate) use zonal_shift::{active_shifts, unix_seconds};

/// A part of what the engine decides, switched on by the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planner {
    /// Claims, from creation to deletion.
    Claims,
    /// Nodes that register and initialize.
    Joining,
    /// Nodes whose deletion was asked for.
    Termination,
    /// Nodes that are drained, for whatever reason, and their pods.
    Drain,
    /// The status of pools.
    Pools,
    /// As many nodes of static pools as they shall have.
    StaticPools,
    /// What node classes select, and what is kept on them.
    NodeClasses,
    /// The status of NodeOverlays.
    Overlays,
    /// Nodes for pods that have none.
    Provisioning,
    /// Nodes nobody needs.
    Disruption,
    /// Instances nobody knows of.
    Instances,
    /// Zones that traffic is shifted away from.
    ZonalShift,
    /// Interruption notices.
    Notices,
}

/// What a subject needs now, by the planners of the role.
pub(crate) fn plan(world: &World, subject: &Subject, now: Time) -> Decision {
    let mut decision = Decision::default();
    for planner in world.settings.role.planners() {
        decision.and(match (planner, subject) {
            (Planner::Claims, Subject::Claim(name)) => claims::plan(world, name, now),
            (Planner::Joining, Subject::Node(name)) => joining::plan(world, name),
            (Planner::Termination, Subject::Node(name)) => termination::plan(world, name, now),
            (Planner::Drain, Subject::Node(name)) => drain::plan(world, name, now),
            (Planner::Drain, Subject::Pod(key)) => drain::plan_pod(world, key, now),
            (Planner::Pools, Subject::Pool(name)) => pools::plan(world, name, now),
            (Planner::StaticPools, Subject::Pool(name)) => static_pools::plan(world, name, now),
            (Planner::NodeClasses, Subject::NodeClass(key)) => node_classes::plan(world, key, now),
            (Planner::Overlays, Subject::Overlay(name)) => overlays::plan(world, name, now),
            (Planner::Provisioning, Subject::Provisioning) => provisioning::plan(world, now),
            (Planner::Disruption, Subject::Disruption) => disruption::plan(world, now),
            (Planner::Instances, Subject::Instances) => instances::plan(world, now),
            (Planner::ZonalShift, Subject::ZonalShift) => zonal_shift::plan(world, now),
            (Planner::Notices, Subject::Notices) => notices::plan(world, now),
            (Planner::Notices, Subject::Node(name)) => notices::plan_node(world, name),
            _ => continue,
        });
    }
    decision
}

/// What to remember when an object is about to become this.
pub(crate) fn on_change(world: &World, object: &Object, now: Time) -> Decision {
    let mut decision = Decision::default();
    for planner in world.settings.role.planners() {
        decision.and(match (planner, object) {
            (Planner::Claims, _) => claims::on_change(world, object, now),
            (Planner::Drain, Object::Node(node)) => drain::on_node_change(world, node),
            (Planner::Drain, Object::Pod(pod)) => drain::on_pod_change(world, pod),
            (Planner::Provisioning, _) => provisioning::on_change(world, object, now),
            (Planner::Disruption, _) => disruption::on_change(world, object, now),
            (Planner::ZonalShift, _) => zonal_shift::on_change(world, object),
            _ => continue,
        });
    }
    decision
}

/// What to remember when an object is about to be gone.
pub(crate) fn on_delete(world: &World, key: &Key, now: Time) -> Decision {
    let mut decision = Decision::default();
    // Who counted on a claim is asked before it is forgotten.
    for planner in world.settings.role.planners().iter().rev() {
        decision.and(match planner {
            Planner::Claims => claims::on_delete(world, key, now),
            Planner::Disruption => disruption::on_delete(world, key),
            Planner::Drain => drain::on_delete(world, key),
            Planner::NodeClasses => node_classes::on_delete(key),
            Planner::Provisioning => provisioning::on_delete(world, key, now),
            Planner::ZonalShift => zonal_shift::on_delete(world, key),
            _ => continue,
        });
    }
    decision
}

/// What to remember when a pool's instances are about to become known.
pub(crate) fn on_instance_types(world: &World, pool: &Name, now: Time) -> Decision {
    provisioning::on_instance_types(world, pool, now)
}

/// What to remember when this process takes over the lead, in place of what happened before.
pub(crate) fn on_lead(world: &World, now: Time) -> Decision {
    match world.settings.role.planners().contains(&Planner::Provisioning) {
        true => provisioning::on_lead(world, now),
        false => Decision::default(),
    }
}

/// What to make of a finished action.
pub(crate) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    let subject = action.kind.subject();
    let mut decision = Decision::default();
    for planner in world.settings.role.planners() {
        decision.and(match (planner, &subject) {
            (Planner::Claims, Subject::Claim(name)) => {
                claims::conclude(world, name, action, outcome, now)
            }
            (Planner::Disruption, Subject::Claim(_)) => {
                disruption::conclude(world, action, outcome, now)
            }
            (Planner::Disruption, Subject::Disruption) => {
                disruption::conclude_what_ifs(world, action, outcome, now)
            }
            (Planner::Disruption, Subject::Consolidation) => {
                disruption::conclude_consolidation(world, action, outcome, now)
            }
            (Planner::Drain, Subject::Pod(key)) => drain::conclude(world, key, action, outcome),
            (Planner::Drain, Subject::Node(_)) => drain::confirmed(world, action, outcome),
            (Planner::Provisioning, Subject::Provisioning) => {
                provisioning::conclude(world, action, outcome, now)
            }
            (Planner::StaticPools, Subject::Claim(name)) => {
                static_pools::conclude(world, name, action, outcome, now)
            }
            (Planner::NodeClasses, Subject::NodeClass(_)) => {
                node_classes::conclude(action, outcome, now)
            }
            (Planner::Instances, Subject::Instances | Subject::Claim(_)) => {
                instances::conclude(world, action, outcome, now)
            }
            (Planner::ZonalShift, _) => zonal_shift::conclude(world, action, outcome, now),
            _ => continue,
        });
    }
    decision
}
