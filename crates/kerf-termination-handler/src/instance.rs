//! Which instances are the handler's business.

use std::collections::BTreeMap;

use kerf_aws::{Described, Instances, Result};

use crate::settings::QueueSettings;

/// Instances asked for in one call, of those a filter may name (200).
const PER_CALL: usize = 100;

/// The tag that instances of an Auto Scaling group have its name in.
const GROUP_TAG: &str = "aws:autoscaling:groupName";
/// The tags that EKS puts the name of the cluster in.
const EKS_CLUSTER_TAGS: [&str; 3] =
    ["aws:eks:cluster-name", "eks:eks-cluster-name", "eks:cluster-name"];

/// Asks EC2 for instances, a hundred in a call. Those that it does not know are missing.
///
/// # Errors
/// A call failed; nothing is known then.
pub(crate) async fn look_up(
    instances: &Instances,
    ids: Vec<String>,
) -> Result<BTreeMap<String, Described>> {
    let mut found = BTreeMap::new();
    for chunk in ids.chunks(PER_CALL) {
        let described = instances.look_up(chunk.to_vec()).await?;
        found.extend(described.into_iter().map(|one| (one.id.clone(), one)));
    }
    Ok(found)
}

/// What an instance is to the handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its events are handled.
    Managed,
    /// Its events are not: the tag is missing.
    Unmanaged,
    /// It is on its way out or gone, and has no name by which its node could be found.
    Nameless,
}

/// What an instance is to the handler.
#[must_use]
pub fn standing(instance: &Described, settings: &QueueSettings) -> Standing {
    if !settings.managed_tag.as_deref().is_none_or(|tag| has_tag(instance, tag)) {
        return Standing::Unmanaged;
    }
    match instance.private_dns_name.is_empty() && !instance.is_running {
        true => Standing::Nameless,
        false => Standing::Managed,
    }
}

/// Whether an instance without a node is provably of this cluster: only then may an Auto Scaling
/// group be told that nothing has to be waited for.
#[must_use]
pub fn belongs_here(instance: &Described, settings: &QueueSettings) -> bool {
    if settings.managed_tag.as_deref().is_some_and(|tag| has_tag(instance, tag)) {
        return true;
    }
    let Some(cluster) = settings.cluster_name.as_deref() else { return false };
    let own = format!("kubernetes.io/cluster/{cluster}");
    let names = |(key, value): &(String, String)| {
        *key == own || EKS_CLUSTER_TAGS.contains(&key.as_str()) && value == cluster
    };
    instance.tags.iter().any(names)
}

/// The Auto Scaling group of an instance, if it has one.
#[must_use]
pub fn group(instance: &Described) -> &str {
    let tag = instance.tags.iter().find(|(key, _)| key == GROUP_TAG);
    tag.map_or("", |(_, value)| value)
}

/// The provider id of an instance's node.
#[must_use]
pub fn provider_id(instance: &Described) -> String {
    format!("aws:///{}/{}", instance.zone, instance.id)
}

fn has_tag(instance: &Described, key: &str) -> bool {
    instance.tags.iter().any(|(own, _)| own == key)
}
