//! Taints that the API itself sets.

use super::{Taint, TaintEffect};

/// Set at boot, gone once the node is registered.
pub const UNREGISTERED_KEY: &str = "karpenter.sh/unregistered";
/// Set before a node is taken away; pods that tolerate it are not drained.
pub const DISRUPTED_KEY: &str = "karpenter.sh/disrupted";
/// Set while a node is rebooted in place. It does not count as one that passes by itself.
pub const REBOOTING_KEY: &str = "karpenter.sh/rebooting";

/// Set by Kubernetes while `spec.unschedulable` is true, as `kubectl cordon` makes it.
pub const UNSCHEDULABLE_KEY: &str = "node.kubernetes.io/unschedulable";

/// `karpenter.sh/unregistered:NoExecute`
#[must_use]
pub fn unregistered() -> Taint {
    Taint::new(UNREGISTERED_KEY, "", TaintEffect::NoExecute)
}

/// `karpenter.sh/disrupted:NoSchedule`
#[must_use]
pub fn disrupted() -> Taint {
    Taint::new(DISRUPTED_KEY, "", TaintEffect::NoSchedule)
}

/// `karpenter.sh/rebooting:NoSchedule`
#[must_use]
pub fn rebooting() -> Taint {
    Taint::new(REBOOTING_KEY, "", TaintEffect::NoSchedule)
}

/// `node.kubernetes.io/unschedulable:NoSchedule`
#[must_use]
pub fn unschedulable() -> Taint {
    Taint::new(UNSCHEDULABLE_KEY, "", TaintEffect::NoSchedule)
}
