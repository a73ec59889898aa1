//! The provider's settings: names and defaults are Karpenter's.

use std::path::PathBuf;
use std::time::Duration;

use kerf_catalog::settings::VM_MEMORY_OVERHEAD_DEFAULT;
use kerf_catalog::share::Share;

/// How the provider works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsSettings {
    /// The network has no way to services outside it: no prices are asked for, and no instance
    /// profiles are removed.
    pub is_isolated: bool,
    /// The share of memory taken by the hypervisor unless a node of the type told otherwise.
    pub vm_memory_overhead: Share,
    /// Network interfaces that are not for pods.
    pub reserved_interfaces: u32,
    /// Whether node classes are tried with dry runs.
    pub is_dry_run: bool,
    /// How long images that were found stay good.
    pub ami_refresh: Duration,
    /// How long subnets that were found stay good.
    pub subnet_refresh: Duration,
    /// Gate `ReservedCapacity`: capacity reservations are used.
    pub uses_reserved_capacity: bool,
    /// Gate `NodeClassCEL`: expressions in the kubelet's settings count.
    pub allows_expressions: bool,
    /// Prices that win over those AWS tells.
    pub price_file: Option<PathBuf>,
}

/// The shortest interval, and the default, of `--ami-refresh-interval` and its like.
const REFRESH: Duration = Duration::from_secs(60);

impl Default for AwsSettings {
    fn default() -> Self {
        Self {
            is_isolated: false,
            vm_memory_overhead: VM_MEMORY_OVERHEAD_DEFAULT,
            reserved_interfaces: 0,
            is_dry_run: true,
            ami_refresh: REFRESH,
            subnet_refresh: REFRESH,
            uses_reserved_capacity: true,
            allows_expressions: false,
            price_file: None,
        }
    }
}
