//! Taints that a starting node is expected to lose by itself.

use super::{Taint, TaintEffect, UNREGISTERED_KEY};

/// Matched by key and effect; values do not matter.
const KNOWN: [(&str, TaintEffect); 5] = [
    ("node.kubernetes.io/not-ready", TaintEffect::NoSchedule),
    ("node.kubernetes.io/not-ready", TaintEffect::NoExecute),
    ("node.kubernetes.io/unreachable", TaintEffect::NoSchedule),
    ("node.cloudprovider.kubernetes.io/uninitialized", TaintEffect::NoSchedule),
    (UNREGISTERED_KEY, TaintEffect::NoExecute),
];

/// Keys of readiness rules, whatever the rule and the effect.
const READINESS_PREFIX: &str = "readiness.k8s.io/";

/// Whether the taint is ignored for placing until a managed node is initialized, and holds its
/// initialization up until it is gone.
#[must_use]
pub fn is_known_ephemeral(taint: &Taint) -> bool {
    taint.key.starts_with(READINESS_PREFIX) || KNOWN.contains(&(taint.key.as_str(), taint.effect))
}
