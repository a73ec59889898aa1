//! Requirements the old admission webhook added on its own.

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use kerf_model::labels::{aws, well_known};

use super::labels::normalized;

/// The requirements with what a Provisioner means when it does not say: linux, amd64, on-demand,
/// and instance categories c, m and r from the third generation on.
///
/// Only requirements count as saying; labels do not. What is added comes after what was there, in
/// the order above. Applying it twice changes nothing more.
#[must_use]
pub fn with_default_requirements(
    requirements: &[NodeSelectorRequirement],
) -> Vec<NodeSelectorRequirement> {
    let says = |key: &str| requirements.iter().any(|entry| normalized(&entry.key) == key);
    let mut all = requirements.to_vec();
    for (key, value) in [
        (well_known::OS, "linux"),
        (well_known::ARCH, "amd64"),
        (well_known::CAPACITY_TYPE, well_known::ON_DEMAND),
    ] {
        if !says(key) {
            all.push(requirement(key, "In", &[value]));
        }
    }
    let shapes = [
        well_known::INSTANCE_TYPE,
        aws::INSTANCE_FAMILY,
        aws::INSTANCE_CATEGORY,
        aws::INSTANCE_GENERATION,
    ];
    if !shapes.into_iter().any(says) {
        all.push(requirement(aws::INSTANCE_CATEGORY, "In", &["c", "m", "r"]));
        all.push(requirement(aws::INSTANCE_GENERATION, "Gt", &["2"]));
    }
    all
}

fn requirement(key: &str, operator: &str, values: &[&str]) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: Some(values.iter().map(|value| (*value).to_owned()).collect()),
    }
}
