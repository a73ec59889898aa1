//! Labels that the core reads or writes whatever the cloud, and their values.

/// The domain of the API; other labels in it are reserved.
pub const API_DOMAIN: &str = "karpenter.sh";

/// Which pool a node or claim belongs to.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// How the instance is paid for: one of [`CAPACITY_TYPES`].
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// `"true"` once the node's own labels and taints are authoritative.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// `"true"` once the node's own capacity is authoritative.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// `"true"` on a node whose claim's taints must not be copied to it.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// The finalizer of claims and nodes.
pub const TERMINATION_FINALIZER: &str = "karpenter.sh/termination";

/// The zone a node is in.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The region a node is in.
pub const REGION: &str = "topology.kubernetes.io/region";
/// The cloud's name for the instance type.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// Processor architecture, `amd64` or `arm64`.
pub const ARCH: &str = "kubernetes.io/arch";
/// Operating system, `linux` or `windows`.
pub const OS: &str = "kubernetes.io/os";
/// Build of the Windows kernel.
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
/// The node's own name; never a requirement of a user.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Set on a node that is going away so that load balancers forget it.
pub const EXCLUDE_FROM_LOAD_BALANCERS: &str =
    "node.kubernetes.io/exclude-from-external-load-balancers";
/// The value of [`EXCLUDE_FROM_LOAD_BALANCERS`] that tools look for.
pub const EXCLUDE_FROM_LOAD_BALANCERS_VALUE: &str = "karpenter";

/// Capacity type of interruptible instances.
pub const SPOT: &str = "spot";
/// Capacity type of ordinary instances.
pub const ON_DEMAND: &str = "on-demand";
/// Capacity type of instances paid for in advance.
pub const RESERVED: &str = "reserved";
/// Every capacity type.
pub const CAPACITY_TYPES: [&str; 3] = [ON_DEMAND, SPOT, RESERVED];

/// Value of [`ARCH`] for x86-64.
pub const ARCH_AMD64: &str = "amd64";
/// Value of [`ARCH`] for 64-bit Arm.
pub const ARCH_ARM64: &str = "arm64";
/// Value of [`OS`] for Linux.
pub const OS_LINUX: &str = "linux";
/// Value of [`OS`] for Windows.
pub const OS_WINDOWS: &str = "windows";

/// Labels a user may always constrain, and a claim may leave open until it is launched.
pub const WELL_KNOWN: [&str; 8] =
    [NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, WINDOWS_BUILD];

/// Labels that distinguish offerings of one instance type.
pub const OFFERING_LABELS: [&str; 2] = [ZONE, CAPACITY_TYPE];

/// Old spelling → the spelling in use.
pub const OLD_SPELLINGS: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    ("beta.kubernetes.io/arch", ARCH),
    ("beta.kubernetes.io/os", OS),
    ("beta.kubernetes.io/instance-type", INSTANCE_TYPE),
];
