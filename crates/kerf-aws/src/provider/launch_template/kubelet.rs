//! What of the kubelet's settings depends on the instance type.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{Kubelet, MaxPods};
use kerf_model::instance_type::InstanceType;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{PODS, ResourceList};

/// The pods a node may hold: as the class says, else what was computed for the type. An expression
/// was evaluated for that.
pub(super) fn max_pods(kubelet: Option<&Kubelet>, instance_type: &InstanceType) -> Option<i64> {
    match kubelet.and_then(|kubelet| kubelet.max_pods.as_ref()) {
        Some(MaxPods::Count(count)) => Some(*count),
        Some(MaxPods::Expression(_)) | None => {
            let pods = instance_type.capacity.get(PODS)?;
            i64::try_from(pods.value()).ok()
        }
    }
}

/// What is reserved on a type. Amounts stay as they are written; in place of an expression stands
/// what was computed for the type, and nothing if nothing was.
pub(super) fn reserved(
    own: &BTreeMap<String, String>,
    computed: &ResourceList,
) -> BTreeMap<String, String> {
    let amount = |(name, text): (&String, &String)| {
        let amount = match Quantity::parse(text) {
            Ok(_) => text.clone(),
            Err(_) => computed.get(name)?.to_string(),
        };
        Some((name.clone(), amount))
    };
    own.iter().filter_map(amount).collect()
}
