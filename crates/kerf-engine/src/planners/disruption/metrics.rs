//! What is counted about removals, under the names dashboards know.

use std::collections::BTreeSet;

use kerf_model::budget::DisruptionReason;
use kerf_model::labels::well_known::CAPACITY_TYPE;
use kerf_model::pool::ConsolidationPolicy;

use super::candidates::Candidate;
use crate::observed::Claim;
use crate::sample::Sample;
use crate::world::World;

/// The word for the search for empty nodes.
const CONSOLIDATION_TYPE: &str = "empty";

/// A removal of these nodes together was decided on.
pub(super) fn decided(candidates: &[Candidate<'_>]) -> Vec<Sample> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let labels = || {
        vec![
            ("decision", "delete".to_owned()),
            ("reason", label(DisruptionReason::Empty)),
            ("consolidation_type", CONSOLIDATION_TYPE.to_owned()),
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

/// So many nodes did not stand the second look.
pub(super) fn validations_failed(count: usize) -> Option<Sample> {
    let labels = vec![("consolidation_type", CONSOLIDATION_TYPE.to_owned())];
    let by = u64::try_from(count).unwrap_or(u64::MAX);
    let metric = "karpenter_voluntary_disruption_failed_validations_total";
    (by > 0).then_some(Sample::Count { metric, labels, by })
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
        ("consolidation_policy", policy(candidate.pool.spec.disruption.policy).to_owned()),
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

fn label(reason: DisruptionReason) -> String {
    reason.as_str().to_lowercase()
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
