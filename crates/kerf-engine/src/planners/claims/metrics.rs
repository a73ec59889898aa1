//! What is counted about claims, under the names dashboards know.

use kerf_model::labels::annotation::MIN_VALUES_RELAXED;
use kerf_model::labels::well_known::{CAPACITY_TYPE, NODE_POOL, ZONE};

use crate::action::NewClaim;
use crate::condition::claim::INSTANCE_TERMINATING;
use crate::observed::{Claim, Node};
use crate::reason::Reason;
use crate::sample::Sample;
use crate::time::Time;

/// A claim was stored.
pub(super) fn created(claim: &NewClaim, reason: &Reason) -> Sample {
    let reason = match reason {
        Reason::Replacement { reason, .. } => reason.as_str().to_lowercase(),
        _ => "provisioned".to_owned(),
    };
    let relaxed = claim.spec.annotations.get(MIN_VALUES_RELAXED);
    let relaxed = relaxed.map_or("false", String::as_str);
    let labels = vec![
        ("reason", reason),
        ("nodepool", claim.pool.0.to_string()),
        ("min_values_relaxed", relaxed.to_owned()),
    ];
    Sample::one("karpenter_nodeclaims_created_total", labels)
}

/// The deletion of a claim was asked for by Kerf itself.
pub(in crate::planners) fn disrupted(claim: &Claim, reason: &str) -> Sample {
    let labels = vec![
        ("reason", reason.to_owned()),
        ("nodepool", claim.pool().unwrap_or_default().to_owned()),
        ("capacity_type", claim.label(CAPACITY_TYPE).unwrap_or_default().to_owned()),
        ("consolidation_policy", String::new()),
        ("termination_mode", termination_mode(claim).to_owned()),
    ];
    Sample::one("karpenter_nodeclaims_disrupted_total", labels)
}

/// A claim is gone.
pub(super) fn terminated(claim: &Claim, now: Time) -> Vec<Sample> {
    let pool = claim.pool().unwrap_or_default().to_owned();
    let labels = vec![
        ("nodepool", pool.clone()),
        ("capacity_type", claim.label(CAPACITY_TYPE).unwrap_or_default().to_owned()),
        ("zone", claim.label(ZONE).unwrap_or_default().to_owned()),
    ];
    let mut samples = vec![Sample::one("karpenter_nodeclaims_terminated_total", labels)];
    if let Some(since) = claim.meta.deleting_since {
        let metric = "karpenter_nodeclaims_termination_duration_seconds";
        let labels = vec![("nodepool", pool)];
        samples.push(Sample::Took { metric, labels, span: now.since(since) });
    }
    samples
}

/// The cloud says a claim's instance is gone.
/// `asked_at` is when its end was first asked for; one that was gone by then took no time.
pub(super) fn instance_gone(claim: &Claim, asked_at: Option<Time>, now: Time) -> Sample {
    let stored = claim.status.conditions.get(INSTANCE_TERMINATING).map(|it| it.changed_at);
    let asked_at = stored.or(asked_at).unwrap_or(now);
    let labels = vec![("nodepool", claim.pool().unwrap_or_default().to_owned())];
    let metric = "karpenter_nodeclaims_instance_termination_duration_seconds";
    Sample::Took { metric, labels, span: now.since(asked_at) }
}

/// A claim's node has joined.
pub(super) fn node_created(claim: &Claim) -> Sample {
    let labels = vec![
        ("nodepool", claim.pool().unwrap_or_default().to_owned()),
        ("zone", claim.label(ZONE).unwrap_or_default().to_owned()),
    ];
    Sample::one("karpenter_nodes_created_total", labels)
}

/// A claim's node is drained.
pub(super) fn node_drained(claim: &Claim) -> Sample {
    let labels = vec![("nodepool", claim.pool().unwrap_or_default().to_owned())];
    Sample::one("karpenter_nodes_drained_total", labels)
}

/// A node is gone.
pub(super) fn node_terminated(node: &Node, now: Time) -> Vec<Sample> {
    let label = |key: &str| node.labels.get(key).cloned().unwrap_or_default();
    let pool = || vec![("nodepool", label(NODE_POOL))];
    let labels = vec![("nodepool", label(NODE_POOL)), ("zone", label(ZONE))];
    let mut samples = vec![Sample::one("karpenter_nodes_terminated_total", labels)];
    let lived = now.since(node.meta.created_at);
    let metric = "karpenter_nodes_lifetime_duration_seconds";
    samples.push(Sample::Took { metric, labels: pool(), span: lived });
    if let Some(since) = node.meta.deleting_since {
        let metric = "karpenter_nodes_termination_duration_seconds";
        samples.push(Sample::Took { metric, labels: pool(), span: now.since(since) });
    }
    samples
}

fn termination_mode(claim: &Claim) -> &'static str {
    match claim.spec.node.termination_grace {
        None => "graceful",
        Some(grace) if grace.nanos() <= 0 => "forceful",
        Some(_) => "eventual",
    }
}
