//! What is wrong with a node, by the provider's policies.

use crate::condition::Condition;
use crate::observed::Node;
use crate::provider::RepairPolicy;
use crate::time::{Span, Time};
use crate::world::World;

/// What is wrong with a node, for longer than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::planners::disruption) struct Diagnosis<'a> {
    /// The condition that is the reason.
    pub(in crate::planners::disruption) condition: &'a str,
    /// How long its pods have to leave, where a policy says so.
    pub(in crate::planners::disruption) drain_within: Option<Span>,
    /// How urgent it is: the rank of a policy's priority, and how long it has been due.
    pub(in crate::planners::disruption) score: u64,
}

/// A policy that a condition of a node matches, and when it is due.
#[derive(Clone, Copy)]
struct Match<'a> {
    policy: &'a RepairPolicy,
    condition: &'a str,
    due_at: Time,
}

/// Waiting for so long counts as much as the next higher priority.
const RANK_AGE: Span = Span::from_minutes(30);

/// What is wrong with a node for longer than the policies tolerate.
pub(in crate::planners::disruption) fn diagnose<'a>(
    world: &'a World,
    node: &'a Node,
    now: Time,
) -> Option<Diagnosis<'a>> {
    let policies = &world.settings.provider.repair_policies;
    let due = || matches(policies, node).filter(|it| it.due_at <= now);
    let driving =
        due().min_by_key(|it| (std::cmp::Reverse(it.policy.priority), it.due_at, it.condition))?;
    let score = |it: Match<'_>| {
        let age = now.since(it.due_at).millis();
        rank(policies, it.policy.priority) * RANK_AGE.millis() + age
    };
    Some(Diagnosis {
        condition: driving.condition,
        drain_within: due().filter_map(|it| it.policy.drain_within).min(),
        score: due().map(score).max().unwrap_or(0),
    })
}

/// When the next node is due that is not yet.
pub(in crate::planners::disruption) fn next_due(world: &World, now: Time) -> Option<Time> {
    let policies = &world.settings.provider.repair_policies;
    let due = world.nodes.values().flat_map(|node| matches(policies, node));
    due.map(|it| it.due_at).filter(|at| now < *at).min()
}

/// Whether a node has a condition that a policy names, whatever its reason and age.
pub(super) fn is_unhealthy(policies: &[RepairPolicy], node: &Node) -> bool {
    node.profile.conditions.0.iter().any(|it| policies.iter().any(|policy| is_about(policy, it)))
}

impl World {
    /// Whether a node has a condition that makes it unhealthy, where such nodes are replaced.
    pub(crate) fn may_need_repair(&self, node: &Node) -> bool {
        let settings = &self.settings;
        settings.node_repair && is_unhealthy(&settings.provider.repair_policies, node)
    }
}

/// Every policy that a condition of the node matches.
fn matches<'a>(policies: &'a [RepairPolicy], node: &'a Node) -> impl Iterator<Item = Match<'a>> {
    node.profile.conditions.0.iter().flat_map(move |condition| {
        let since = condition.changed_at.max(node.meta.created_at);
        let own = policies.iter().filter(move |policy| is_about(policy, condition));
        own.map(move |policy| Match {
            policy,
            condition: &condition.kind,
            due_at: since + policy.toleration,
        })
    })
}

fn is_about(policy: &RepairPolicy, condition: &Condition) -> bool {
    policy.condition == condition.kind && policy.status == condition.status
}

/// The place of a priority among those there are.
fn rank(policies: &[RepairPolicy], priority: u8) -> u64 {
    let mut lower: Vec<u8> = policies.iter().map(|policy| policy.priority).collect();
    lower.retain(|other| *other < priority);
    lower.sort_unstable();
    lower.dedup();
    u64::try_from(lower.len()).unwrap_or(u64::MAX)
}
