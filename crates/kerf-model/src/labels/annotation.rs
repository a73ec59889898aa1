//! Annotations of pods, pools, claims and nodes.

/// On a pod: `"true"` or a positive duration; on a node: `"true"`.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// On a node: `"true"` vetoes repair and reboot.
pub const DO_NOT_REPAIR: &str = "karpenter.sh/do-not-repair";
/// On a pod: how much losing it costs, in place of [`POD_DELETION_COST`].
pub const DISRUPTION_COST: &str = "karpenter.sh/disruption-cost";
/// On a claim: how long the drain of its committed reboot may take.
pub const REBOOT_GRACE_PERIOD: &str = "karpenter.sh/reboot-termination-grace-period";
/// On a claim: the node's boot id before its reboot.
pub const REBOOT_PRE_BOOT_ID: &str = "karpenter.sh/reboot-pre-boot-id";
/// Hash of the pool template a claim was made from.
pub const NODE_POOL_HASH: &str = "karpenter.sh/nodepool-hash";
/// Which hash function made [`NODE_POOL_HASH`].
pub const NODE_POOL_HASH_VERSION: &str = "karpenter.sh/nodepool-hash-version";
/// RFC 3339 time by which a node's pods are deleted by force.
pub const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// Whether `minValues` was relaxed for this launch.
pub const MIN_VALUES_RELAXED: &str = "karpenter.sh/nodeclaim-min-values-relaxed";
/// Device drivers whose pools a claim's initialization waits for; sorted, comma-separated.
pub const REQUESTED_DRA_DRIVERS: &str = "karpenter.sh/requested-dra-drivers";
/// `"true"` when an overlay changed the price of a claim's instance types.
pub const PRICE_OVERLAY_APPLIED: &str = "karpenter.sh/price-overlay-applied";
/// `"true"` when an overlay changed the capacity of a claim's instance types.
pub const CAPACITY_OVERLAY_APPLIED: &str = "karpenter.sh/capacity-overlay-applied";
/// Marks the virtual pods of a capacity buffer; never stored.
pub const BUFFER_FAKE_POD: &str = "karpenter.sh/capacity-buffer-fake-pod";
/// Name of the buffer a virtual pod stands for.
pub const BUFFER_NAME: &str = "karpenter.sh/capacity-buffer-name";
/// Namespace of the buffer a virtual pod stands for.
pub const BUFFER_NAMESPACE: &str = "karpenter.sh/capacity-buffer-namespace";
/// How much losing a pod costs, read from Kubernetes.
pub const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
