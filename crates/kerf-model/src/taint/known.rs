//! Taints that the API itself sets.

use super::{Taint, TaintEffect};

/// Set at boot, gone once the node is registered.
pub const UNREGISTERED_KEY: &str = "karpenter.sh/unregistered";
/// Set before a node is taken away; pods that tolerate it are not drained.
pub const DISRUPTED_KEY: &str = "karpenter.sh/disrupted";

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
