//! The words made-up problems are written in. Few, so that they meet.

use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, MEMORY, PODS, ResourceList};

pub(super) const ZONES: [&str; 4] = ["zone-a", "zone-b", "zone-c", "zone-d"];
pub(super) const REGION_NAME: &str = "here";
pub(super) const FAMILIES: [&str; 3] = ["c", "m", "r"];
pub(super) const APPS: [&str; 4] = ["web", "db", "cache", "batch"];
pub(super) const VERSIONS: [&str; 2] = ["1", "2"];
/// Namespaces with their stage.
pub(super) const NAMESPACES: [(&str, &str); 3] =
    [("shop", "live"), ("ops", "live"), ("lab", "trial")];
pub(super) const TEAMS: [&str; 2] = ["red", "blue"];
pub(super) const RACKS: [&str; 3] = ["rack-1", "rack-2", "rack-3"];
pub(super) const DRIVER: &str = "disks.example";
pub(super) const GPU: &str = "example.com/gpu";

/// Labels of pods.
pub(super) const APP: &str = "app";
pub(super) const VERSION: &str = "version";
/// Labels of nodes that only pools define.
pub(super) const TEAM: &str = "team";
pub(super) const RACK: &str = "example.com/rack";

pub(super) fn amounts(cpu_milli: u64, memory_mebibytes: u64, pods: u64) -> ResourceList {
    let memory_bytes = memory_mebibytes as i64 * 1024 * 1024;
    ResourceList::from_iter([
        (CPU, Quantity::from_milli(cpu_milli as i64)),
        (MEMORY, Quantity::from_bytes(memory_bytes)),
        (PODS, Quantity::from_int(pods as i64)),
    ])
}
