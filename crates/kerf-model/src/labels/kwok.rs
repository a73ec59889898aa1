//! Labels of simulated instances animated by kwok.

use super::ProviderLabels;

/// The domain of kwok labels; only those below may be used.
pub const DOMAIN: &str = "karpenter.kwok.sh";

/// Size of the simulated type.
pub const INSTANCE_SIZE: &str = "karpenter.kwok.sh/instance-size";
/// Family of the simulated type.
pub const INSTANCE_FAMILY: &str = "karpenter.kwok.sh/instance-family";
/// Count of processors.
pub const INSTANCE_CPU: &str = "karpenter.kwok.sh/instance-cpu";
/// Memory of the simulated type.
pub const INSTANCE_MEMORY: &str = "karpenter.kwok.sh/instance-memory";
/// Name of the node class; set by the core, usable in selectors.
pub const NODE_CLASS: &str = "karpenter.kwok.sh/kwoknodeclass";

/// Label and annotation by which kwok knows its nodes; the value is [`FAKE_NODE_VALUE`].
pub const FAKE_NODE: &str = "kwok.x-k8s.io/node";
/// The value of [`FAKE_NODE`].
pub const FAKE_NODE_VALUE: &str = "fake";
/// Which part of the simulated fleet a node belongs to.
pub const PARTITION: &str = "kwok-partition";
/// The price that fleet viewers read.
pub const INSTANCE_PRICE: &str = "eks-node-viewer/instance-price";

/// Labels of simulated types that requirements may use.
pub const WELL_KNOWN: [&str; 4] = [INSTANCE_SIZE, INSTANCE_FAMILY, INSTANCE_CPU, INSTANCE_MEMORY];

/// What kwok adds to the rules of the core.
#[must_use]
pub fn provider_labels() -> ProviderLabels {
    ProviderLabels::new().well_known(WELL_KNOWN).restricted_domain(DOMAIN).allowed(NODE_CLASS)
}
