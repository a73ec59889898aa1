//! What is counted about removals, under the names dashboards know.

use std::collections::BTreeSet;

use kerf_consolidation::Kept;
use kerf_model::budget::DisruptionReason;
use kerf_model::labels::well_known::CAPACITY_TYPE;
use kerf_model::pool::ConsolidationPolicy;
use kerf_scheduler::PlacementProblem;

use super::candidates::Candidate;
use super::method::{Method, method_for};
use super::repair::{Repair, diagnose};
use super::static_pools;
use crate::command::Command;
use crate::observed::Claim;
use crate::sample::Sample;
use crate::solve::ConsolidationPlan;
use crate::time::{Span, Time};
use crate::world::World;

/// A command to disrupt these nodes together passed validation.
pub(super) fn decided(
    method: &dyn Method,
    command: &Command,
    candidates: &[Candidate<'_>],
) -> Vec<Sample> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let is_first =
        command.replacements.is_empty() && candidates.iter().all(static_pools::is_static);
    let labels = || {
        vec![
            ("decision", decision(command, is_first).to_owned()),
            ("reason", label(method.reason())),
            ("consolidation_type", method.consolidation_type(candidates.len()).to_owned()),
        ]
    };
    let all = Sample::one("karpenter_voluntary_disruption_decisions_total", labels());
    let pools: BTreeSet<&str> =
        candidates.iter().map(|each| each.pool.spec.name.as_str()).collect();
    let by_pool = pools.into_iter().map(|pool| {
        let mut labels = labels();
        labels.insert(0, ("nodepool", pool.to_owned()));
        Sample::one("karpenter_voluntary_disruption_decisions_by_nodepool_total", labels)
    });
    [all].into_iter().chain(by_pool).collect()
}

/// A node goes before its replacement comes.
pub(super) fn terminated_first(
    method: &dyn Method,
    candidate: &Candidate<'_>,
    cause: &'static str,
) -> Sample {
    let labels = vec![
        ("nodepool", candidate.pool.spec.name.clone()),
        ("reason", label(method.reason())),
        ("terminate_first_reason", cause.to_owned()),
    ];
    Sample::one("karpenter_voluntary_disruption_terminate_first_decisions_total", labels)
}

/// So many candidates did not pass validation.
pub(super) fn validations_failed(method: &dyn Method, count: usize) -> Option<Sample> {
    let labels = vec![("consolidation_type", method.consolidation_type(count).to_owned())];
    let by = u64::try_from(count).unwrap_or(u64::MAX);
    let metric = "karpenter_voluntary_disruption_failed_validations_total";
    (by > 0).then_some(Sample::Count { metric, labels, by })
}

/// A command was rolled back while it was carried out.
pub(super) fn failed(command: &Command) -> Sample {
    let method = method_for(command.reason);
    let method = method.map_or("", |it| it.consolidation_type(command.candidates.len()));
    let labels = vec![
        ("decision", decision(command, false).to_owned()),
        ("reason", label(command.reason)),
        ("consolidation_type", method.to_owned()),
    ];
    Sample::one("karpenter_voluntary_disruption_queue_failures_total", labels)
}

/// A search for nodes to consolidate was answered after so long.
pub(super) fn searched(plan: &ConsolidationPlan, took: Option<Span>) -> Vec<Sample> {
    let kind = || ("consolidation_type", "multi".to_owned());
    let duration = took.map(|span| Sample::Took {
        metric: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
        labels: vec![("reason", label(DisruptionReason::Underutilized)), kind()],
        span,
    });
    let timed_out = (!plan.is_complete).then(|| {
        let metric = "karpenter_voluntary_disruption_consolidation_timeouts_total";
        Sample::one(metric, vec![kind()])
    });
    duration.into_iter().chain(timed_out).collect()
}

/// Where the pods of nodes would go was answered after so long.
pub(super) fn answered(method: &dyn Method, nodes: usize, took: Span) -> Sample {
    Sample::Took {
        metric: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
        labels: vec![
            ("reason", label(method.reason())),
            ("consolidation_type", method.consolidation_type(nodes).to_owned()),
        ],
        span: took,
    }
}

/// What moves of a search were worth: those of its wave in each pool they take nodes from, and those
/// of single nodes that are not worth it.
pub(super) fn judged(problem: &PlacementProblem, plan: &ConsolidationPlan) -> Vec<Sample> {
    let pool_of = |node: usize| {
        let name = problem.nodes[node].pool.as_ref()?;
        problem.pools.iter().position(|known| known.pool.name == *name)
    };
    let mut samples = Vec::new();
    let mut judge = |pool: usize, decision: &str, score: Option<u64>| {
        let pool = &problem.pools[pool].pool;
        let labels = vec![
            ("decision", decision.to_owned()),
            ("nodepool", pool.name.clone()),
            ("policy", format!("{:?}", pool.disruption.policy)),
        ];
        if let Some(millis) = score {
            let (metric, labels) = ("karpenter_consolidation_score", labels.clone());
            samples.push(Sample::Scored { metric, labels, millis });
        }
        samples.push(Sample::one("karpenter_consolidation_moves_total", labels));
    };
    for each in &plan.wave {
        let pools: BTreeSet<usize> = each.removed.iter().filter_map(|it| pool_of(*it)).collect();
        for pool in pools {
            let score = each.scores.iter().find(|score| score.pool == pool);
            judge(pool, "approved", score.map(|score| score.millis));
        }
    }
    for (node, kept) in &plan.kept {
        if let (Kept::NotWorthIt { score_millis }, Some(pool)) = (kept, pool_of(*node)) {
            judge(pool, "rejected", Some(*score_millis));
        }
    }
    samples
}

/// A claim was deleted.
pub(super) fn removed(
    world: &World,
    candidate: &Candidate<'_>,
    reason: DisruptionReason,
) -> [Sample; 2] {
    let claim = candidate.claim;
    let labels = vec![
        ("reason", label(reason)),
        ("nodepool", candidate.pool.spec.name.clone()),
        ("capacity_type", claim.label(CAPACITY_TYPE).unwrap_or_default().to_owned()),
        ("consolidation_policy", policy_of(candidate, reason).to_owned()),
        ("termination_mode", termination_mode(claim).to_owned()),
    ];
    let pods = candidate.reschedulable_pods(world).count();
    let by = u64::try_from(pods).unwrap_or(u64::MAX);
    let metric = "karpenter_pods_disruption_initiated_total";
    [
        Sample::one("karpenter_nodeclaims_disrupted_total", labels.clone()),
        Sample::Count { metric, labels, by },
    ]
}

/// The reboot of a node was decided on and stored.
pub(super) fn rebooted(method: &dyn Method, candidate: &Candidate<'_>) -> [Sample; 2] {
    let labels = || {
        vec![
            ("decision", "reboot".to_owned()),
            ("reason", label(method.reason())),
            ("consolidation_type", method.consolidation_type(1).to_owned()),
        ]
    };
    let mut of_pool = labels();
    of_pool.insert(0, ("nodepool", candidate.pool.spec.name.clone()));
    [
        Sample::one("karpenter_voluntary_disruption_decisions_total", labels()),
        Sample::one("karpenter_voluntary_disruption_decisions_by_nodepool_total", of_pool),
    ]
}

/// An unhealthy node's claim was deleted.
pub(super) fn replaced(world: &World, candidate: &Candidate<'_>, now: Time) -> Option<Sample> {
    let diagnosis = diagnose(world, candidate.claim, candidate.node, now)?;
    let within = Repair.drain_within(world, candidate, now);
    Some(repaired(candidate, &diagnosis.condition.kind, within))
}

/// Something is done about an unhealthy node; its pods have so long, where a policy says so.
pub(super) fn repaired(candidate: &Candidate<'_>, condition: &str, within: Option<Span>) -> Sample {
    let claim = candidate.claim;
    let mode = match within {
        Some(within) if within == Span::default() => "forceful",
        Some(_) => "eventual",
        None => termination_mode(claim),
    };
    let labels = vec![
        ("condition", snake_case(condition)),
        ("nodepool", candidate.pool.spec.name.clone()),
        ("capacity_type", claim.label(CAPACITY_TYPE).unwrap_or_default().to_owned()),
        ("image_id", claim.status.image_id.clone().unwrap_or_default()),
        ("termination_mode", mode.to_owned()),
    ];
    Sample::one("karpenter_nodeclaims_unhealthy_disrupted_total", labels)
}

/// `ReadyToServe` as `ready_to_serve`.
fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            text.push('_');
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        text.extend(letter.to_lowercase());
    }
    text
}

/// A node of a static pool is always replaced, so one that goes without a replacement goes first.
pub(super) fn decision(command: &Command, is_first: bool) -> &'static str {
    match command.replacements.is_empty() {
        true if is_first => "terminate-first",
        true => "delete",
        false => "replace",
    }
}

fn label(reason: DisruptionReason) -> String {
    reason.as_str().to_lowercase()
}

/// The policy by which a node goes; drift and repair ask for none.
fn policy_of(candidate: &Candidate<'_>, reason: DisruptionReason) -> &'static str {
    match reason {
        DisruptionReason::Empty | DisruptionReason::Underutilized => {
            policy(candidate.pool.spec.disruption.policy)
        }
        DisruptionReason::Drifted | DisruptionReason::Unhealthy => "",
    }
}

fn policy(policy: ConsolidationPolicy) -> &'static str {
    match policy {
        ConsolidationPolicy::WhenEmpty => "when_empty",
        ConsolidationPolicy::WhenEmptyOrUnderutilized => "when_empty_or_underutilized",
        ConsolidationPolicy::Balanced => "balanced",
    }
}

fn termination_mode(claim: &Claim) -> &'static str {
    match claim.spec.node.termination_grace {
        None => "graceful",
        Some(grace) if grace.nanos() <= 0 => "forceful",
        Some(_) => "eventual",
    }
}
