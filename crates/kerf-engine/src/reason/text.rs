//! Reasons as people read them, in logs, Events and traces.

use std::fmt;

use kerf_model::budget::DisruptionReason;
use kerf_model::labels::annotation::{DO_NOT_DISRUPT, DO_NOT_REPAIR};
use kerf_model::resources::{human, human_noun};

use super::{Blocked, Cancelled, ConditionChange, DeletionCause, NotPlaced, Reason};
use crate::timestamp::rfc3339;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::PodsPending { count } => write!(f, "{count} pods need a place"),
            Reason::PlacesUnknown { reason, nodes } => {
                write!(f, "places for the pods of {nodes} nodes: {}", disruption(*reason))
            }
            Reason::NodeNeeded { pool } => write!(f, "pool {pool} needs another node"),
            Reason::Deletion(cause) => cause.fmt(f),
            Reason::Disruption { cause: Some(cause), .. } => {
                write!(f, "the node is unhealthy: {cause}")
            }
            Reason::Disruption { reason, .. } => f.write_str(disruption(*reason)),
            Reason::Replacement { reason, .. } => {
                write!(f, "another node is replaced: {}", disruption(*reason))
            }
            Reason::DisruptionCancelled(cause) => {
                write!(f, "the node is no longer disrupted: {cause}")
            }
            Reason::ClaimStatusOutdated { conditions, pod_event } => {
                status_changes(f, conditions, *pod_event)
            }
            Reason::Draining { node } => write!(f, "node {node} is being drained"),
            Reason::DrainDeadline { deadline, grace_seconds, asked_seconds } => {
                let deadline = rfc3339(*deadline);
                write!(f, "its node must be gone by {deadline}; ")?;
                write!(f, "it is given {grace_seconds} s to end, ")?;
                match asked_seconds {
                    Some(seconds) => write!(f, "it asks for {seconds} s"),
                    None => f.write_str("it asks for no limit"),
                }
            }
            other => f.write_str(sentence(other)),
        }
    }
}

/// Reasons that need no more than their name.
fn sentence(reason: &Reason) -> &'static str {
    match reason {
        Reason::NotLaunched => "the claim has no instance yet",
        Reason::ClaimMetadataOutdated => "the claim lacks labels, annotations or finalizers",
        Reason::NodeJoined => "the node has joined and gets what its claim asks for",
        Reason::NodeInitialized => "the node is ready for pods",
        Reason::NodeClassLabelMissing => "the node lacks the label of its node class",
        Reason::ReservationLeft => "the instance has left its capacity reservation",
        Reason::ReplacementKept => "the replacement stands by itself",
        Reason::ReplacementUnused => "nothing needs the replacement any more",
        Reason::ClaimDeleting => "its claim is being deleted",
        Reason::ClaimGone => "its claim is gone",
        Reason::NodeDeleting => "its node is being deleted",
        Reason::Rebooting => "the node is rebooted in place",
        Reason::DrainStarting => "the node is about to be drained",
        Reason::Drained => "the node is drained",
        Reason::Announced(kind) => kind.sentence(),
        Reason::NodeDrained => "its pods, volumes and instance are gone",
        Reason::InstanceGone => "the cloud no longer has its instance",
        Reason::InstanceUnused => "nothing needs the instance any more",
        Reason::InstanceOrphaned => "no claim has this instance",
        Reason::AbsenceUnconfirmed => "what seems to be gone is looked for before anything ends",
        Reason::InstanceComparison => "claims and instances are compared",
        Reason::PoolStatusOutdated => "the pool's state has changed",
        Reason::PoolHashOutdated => "the template's hash has changed",
        Reason::ClaimHashOutdated => "its hash was made by another version of the hash function",
        Reason::NodeClassMetadataOutdated => "the node class lacks its finalizer or hash",
        Reason::NodeClassUnresolved => "what the node class selects is looked up",
        Reason::NodeClassStatusOutdated => "more is known of what the node class selects",
        Reason::NodeClassUnused => "the node class is being deleted and no claim uses it",
        Reason::OverlayStatusOutdated => "the overlay's state has changed",
        Reason::InstanceUntagged => "the instance lacks the name of its node",
        Reason::ShiftSourcesOutdated => "zones and zonal shifts are read anew",
        Reason::ShiftStateChanged => "the state of zonal shifts has changed",
        Reason::ZonalShift | Reason::ZonalShiftNode(_) => "a zone is to be avoided, or no longer",
        Reason::PodsPending { .. }
        | Reason::PlacesUnknown { .. }
        | Reason::NodeNeeded { .. }
        | Reason::Deletion(_)
        | Reason::Disruption { .. }
        | Reason::Replacement { .. }
        | Reason::DisruptionCancelled(_)
        | Reason::ClaimStatusOutdated { .. }
        | Reason::Draining { .. }
        | Reason::DrainDeadline { .. } => "",
    }
}

fn disruption(reason: DisruptionReason) -> &'static str {
    match reason {
        DisruptionReason::Empty => "the node is empty",
        DisruptionReason::Drifted => "the node has drifted",
        DisruptionReason::Underutilized => "the node is underutilized",
        DisruptionReason::Unhealthy => "the node is unhealthy",
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cancelled::Blocked(cause) => cause.fmt(f),
            Cancelled::NotCandidate => f.write_str("the reason no longer holds"),
            Cancelled::ReplacementGone { claim } => write!(f, "the replacement {claim} is gone"),
            Cancelled::LimitReached(cause) => cause.fmt(f),
            Cancelled::TimedOut => f.write_str("replacements did not come up in time"),
            Cancelled::Abandoned => f.write_str("no disruption of it is under way"),
        }
    }
}

fn status_changes(
    f: &mut fmt::Formatter<'_>,
    conditions: &[ConditionChange],
    pod_event: bool,
) -> fmt::Result {
    if conditions.is_empty() && !pod_event {
        return f.write_str("more is known of its instance");
    }
    for (place, ConditionChange { kind, status }) in conditions.iter().enumerate() {
        let separator = if place == 0 { "" } else { ", " };
        write!(f, "{separator}{kind} is {status}")?;
    }
    if pod_event {
        let separator = if conditions.is_empty() { "" } else { ", " };
        write!(f, "{separator}a pod came or went")?;
    }
    Ok(())
}

impl fmt::Display for DeletionCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeletionCause::Interrupted(kind) => kind.sentence(),
            DeletionCause::InsufficientCapacity => "the cloud has no such instance now",
            DeletionCause::NodeClassNotReady => "the node class is not ready",
            DeletionCause::LaunchTimeout => "no instance was launched in time",
            DeletionCause::RegistrationTimeout => "the node did not join in time",
            DeletionCause::Expired => "the node has reached its age limit",
            DeletionCause::GarbageCollected => "the cloud no longer has the instance",
            DeletionCause::ReservationEnding => "the capacity reservation is about to end",
            DeletionCause::Overprovisioned => "the pool has more nodes than its replicas",
            DeletionCause::RebootFailed(fault) => fault.sentence(),
        })
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::Rebooting => f.write_str("the node is being rebooted"),
            Blocked::Deleting => f.write_str("the node is being deleted already"),
            Blocked::Nominated => f.write_str("pods that wait are meant for this node"),
            Blocked::NodeDoNotDisrupt => {
                write!(f, "the node has the annotation {DO_NOT_DISRUPT}=true")
            }
            Blocked::NodeDoNotRepair => {
                write!(f, "the node has the annotation {DO_NOT_REPAIR}=true")
            }
            Blocked::TooManyUnhealthy { pool, unhealthy, nodes } => write!(
                f,
                "more than 20% nodes are unhealthy in the nodepool {pool:?}: {unhealthy} of {nodes}"
            ),
            Blocked::ZoneShifted { zone, id } => write!(
                f,
                "the cluster is shifted away from zone {zone} ({id}); what stands there stays \
                 until that is over"
            ),
            Blocked::PodDoNotDisrupt { pod } => {
                write!(f, "pod {pod} has the annotation {DO_NOT_DISRUPT}")
            }
            Blocked::PodDisruptionBudget { namespace, name, pod } => write!(
                f,
                "the PodDisruptionBudget {namespace}/{name} does not let pod {pod} go now"
            ),
            Blocked::SeveralPodDisruptionBudgets { pod } => write!(
                f,
                "pod {pod} is covered by several PodDisruptionBudgets, so it cannot be evicted"
            ),
            Blocked::NoPlace { pod, cause } => {
                write!(f, "pod {pod} would have no place to go: {cause}")
            }
            Blocked::StaticPoolAtLimit { pool } => {
                write!(f, "nodepool {pool:?} is at its limit of nodes: no replacement may come")
            }
            Blocked::ReservationsFull { pool } => {
                write!(f, "the capacity reservations of nodepool {pool:?} are full")
            }
            Blocked::PoolNotReady { pool } => write!(f, "nodepool {pool:?} is not ready"),
            Blocked::Budget { reason } => {
                write!(f, "the disruption budgets allow no node to go for the reason {reason}")
            }
        }
    }
}

impl fmt::Display for NotPlaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPlaced::Unusable { problem } => f.write_str(problem),
            NotPlaced::NoPool => f.write_str(
                "no NodePool is there that makes nodes for pods; create one, or see why none is \
                     Ready with kubectl get nodepools",
            ),
            NotPlaced::Unschedulable { explanation } => f.write_str(explanation),
            NotPlaced::LimitReached { pool, resource, used, limit } => write!(
                f,
                "NodePool {pool} is at its limit: {}{} would be used and spec.limits.{resource} is {}; raise \
                 it to {used} or more",
                human(resource, *used),
                human_noun(resource),
                human(resource, *limit)
            ),
            NotPlaced::ClaimRefused { message } => write!(f, "its claim was refused: {message}"),
            NotPlaced::SolveFailed => {
                f.write_str("the search for a place stopped with an error; the log says more")
            }
        }
    }
}
