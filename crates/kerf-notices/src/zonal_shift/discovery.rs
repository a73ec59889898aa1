//! In which zones the cluster can have nodes, by its subnets.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::zone::{ZoneId, ZoneName, ZoneTable};

/// A subnet, as EC2 describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// The network it belongs to.
    pub vpc_id: String,
    /// The name of its zone.
    pub zone: ZoneName,
    /// Whether its state is `available`.
    pub is_available: bool,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// The zones of the cluster's subnets: those tagged for discovery or, in Auto Mode, those tagged
/// as the cluster's in one way, then another, then every available one of its network.
pub fn subnet_zones(
    subnets: &[Subnet],
    cluster_name: &str,
    vpc_id: &str,
    is_auto_mode: bool,
) -> BTreeSet<ZoneName> {
    let owned_key = format!("kubernetes.io/cluster/{cluster_name}");
    let has = |subnet: &Subnet, key: &str, values: &[&str]| {
        subnet.tags.get(key).is_some_and(|value| values.contains(&value.as_str()))
    };
    let zones_of = |is_wanted: &dyn Fn(&Subnet) -> bool| -> BTreeSet<ZoneName> {
        let ours = subnets.iter().filter(|subnet| subnet.vpc_id == vpc_id);
        ours.filter(|subnet| is_wanted(subnet)).map(|subnet| subnet.zone.clone()).collect()
    };
    if !is_auto_mode {
        return zones_of(&|subnet| has(subnet, "karpenter.sh/discovery", &[cluster_name]));
    }
    let tries = [
        zones_of(&|subnet| has(subnet, &owned_key, &["owned", "shared"])),
        zones_of(&|subnet| has(subnet, "eks.amazonaws.com/cluster", &[cluster_name])),
    ];
    let tagged = tries.into_iter().find(|zones| !zones.is_empty());
    tagged.unwrap_or_else(|| zones_of(&|subnet| subnet.is_available))
}

/// The zones in a node class's `status.subnets`, which also teach the table ids and names.
pub fn node_class_zones(node_class: &Value, table: &mut ZoneTable) -> BTreeSet<ZoneName> {
    let subnets = node_class.pointer("/status/subnets").and_then(Value::as_array);
    let mut zones = BTreeSet::new();
    for subnet in subnets.into_iter().flatten() {
        let text = |field: &str| subnet.get(field).and_then(Value::as_str);
        let Some(name) = text("zone").map(ZoneName::new) else { continue };
        if let Some(id) = text("zoneID") {
            table.learn(&ZoneId::new(id), &name);
        }
        zones.insert(name);
    }
    zones
}
