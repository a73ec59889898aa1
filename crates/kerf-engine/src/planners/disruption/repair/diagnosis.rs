//! What is wrong with a node, by the provider's policies.

use std::cmp::Reverse;

use crate::condition::claim::REBOOTING;
use crate::condition::{Condition, Status};
use crate::observed::{Claim, Node};
use crate::provider::{PolicyMatch, RepairAction, RepairPolicies, RepairPolicy};
use crate::reason::RepairCause;
use crate::time::{Span, Time};
use crate::world::World;

/// What is wrong with a node, for longer than it may.
#[derive(Clone, Copy, Debug)]
pub(in crate::planners::disruption) struct Diagnosis<'a> {
    /// The condition that is the reason.
    pub(in crate::planners::disruption) condition: &'a Condition,
    /// The policy for it.
    policy: &'a RepairPolicy,
    /// What is done about it: what its policy says, or more where that did not help.
    pub(super) action: RepairAction,
    /// From when on it was no longer tolerated.
    due_at: Time,
    /// How long its pods have to leave, where a policy says so, and for which condition.
    pub(in crate::planners::disruption) drain_within: Option<(Span, &'a str)>,
    /// How urgent it is: the rank of a policy's priority, and how long it has been due.
    pub(in crate::planners::disruption) score: u64,
}

/// A policy that a condition of a node meets, and when something is done about it.
#[derive(Clone, Copy)]
struct Match<'a> {
    policy: PolicyMatch<'a>,
    condition: &'a Condition,
    due_at: Time,
}

/// Waiting for so long counts as much as the next higher priority.
const RANK_AGE: Span = Span::from_minutes(30);

/// What is wrong with a claim's node for longer than the policies tolerate.
pub(in crate::planners::disruption) fn diagnose<'a>(
    world: &'a World,
    claim: &Claim,
    node: &'a Node,
    now: Time,
) -> Option<Diagnosis<'a>> {
    let policies = &world.settings.provider.repair_policies;
    let due: Vec<Match<'a>> =
        matches(policies, Some(claim), node).filter(|it| it.due_at <= now).collect();
    // What a restart would heal goes with the node, where something else is wrong with it too.
    let replaces = due.iter().any(|it| it.policy.policy.action == RepairAction::ReplaceNode);
    let action = if replaces { RepairAction::ReplaceNode } else { RepairAction::RebootNode };
    let driving = due.iter().filter(|it| it.policy.policy.action == action).min_by_key(|it| {
        (Reverse(it.policy.policy.priority), it.due_at, it.condition.kind.as_str())
    })?;
    let limits = due.iter().filter_map(|it| Some((it.policy.policy.drain_within?, it)));
    let shortest = limits.min_by_key(|(span, it)| (*span, it.due_at, it.condition.kind.as_str()));
    let is_exhausted = world.reboots(claim).is_some_and(|known| known.is_exhausted(now));
    Some(Diagnosis {
        action: if is_exhausted { RepairAction::ReplaceNode } else { action },
        condition: driving.condition,
        policy: driving.policy.policy,
        due_at: driving.due_at,
        drain_within: shortest.map(|(span, it)| (span, it.condition.kind.as_str())),
        score: due.iter().map(|it| it.score(now)).max().unwrap_or(0),
    })
}

/// When the next node is due that is not yet.
pub(in crate::planners::disruption) fn next_due(world: &World, now: Time) -> Option<Time> {
    let policies = &world.settings.provider.repair_policies;
    let sick = world.nodes.values().filter(|node| is_unhealthy(policies, node));
    let due = sick.flat_map(|node| matches(policies, world.claim_of(node), node));
    due.map(|it| it.due_at).filter(|at| now < *at).min()
}

/// Whether a node has a condition that a policy names, whatever its reason and age.
pub(super) fn is_unhealthy(policies: &RepairPolicies, node: &Node) -> bool {
    node.profile.conditions.0.iter().any(|it| policies.name(it))
}

impl World {
    /// Whether a node has a condition that makes it unhealthy, where such nodes are repaired.
    pub(crate) fn may_need_repair(&self, node: &Node) -> bool {
        let settings = &self.settings;
        settings.node_repair && is_unhealthy(&settings.provider.repair_policies, node)
    }
}

impl Diagnosis<'_> {
    /// What is wrong, for the log.
    pub(super) fn cause(self) -> RepairCause {
        RepairCause {
            condition: self.condition.kind.clone(),
            status: self.condition.status,
            reason: self.condition.reason.clone(),
            pattern: self.policy.reason.clone(),
            action: self.action,
            is_escalated: self.action != self.policy.action,
            due_at: self.due_at,
            drain_within: self.drain_within.map(|(span, source)| (span, source.to_owned())),
        }
    }
}

impl Match<'_> {
    fn score(&self, now: Time) -> u64 {
        u64::from(self.policy.rank) * RANK_AGE.millis() + now.since(self.due_at).millis()
    }
}

/// Every policy that a condition of the node meets. What was there before a node was made or
/// rebooted counts from then on.
fn matches<'a>(
    policies: &'a RepairPolicies,
    claim: Option<&Claim>,
    node: &'a Node,
) -> impl Iterator<Item = Match<'a>> {
    let rebooting = claim.and_then(|claim| claim.status.conditions.get(REBOOTING));
    let rebooted_at = rebooting.filter(|it| it.status == Status::False).map(|it| it.changed_at);
    let from = rebooted_at.map_or(node.meta.created_at, |at| at.max(node.meta.created_at));
    node.profile.conditions.0.iter().flat_map(move |condition| {
        let since = condition.changed_at.max(from);
        policies.met_by(condition).into_iter().map(move |policy| {
            let due_at = since + policy.policy.toleration;
            Match { policy, condition, due_at }
        })
    })
}
