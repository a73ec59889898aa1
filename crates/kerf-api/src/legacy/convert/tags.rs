//! Tags of what is made in EC2.

use std::collections::BTreeMap;

use super::Options;
use crate::legacy::finding::Findings;

/// Tags Kerf writes itself and an EC2NodeClass therefore may not have.
const SET_BY_KERF: [&str; 4] = [
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
];
const CLUSTER_TAG_PREFIX: &str = "kubernetes.io/cluster";

/// A template's tags over the global ones.
pub(super) fn convert(
    tags: Option<&BTreeMap<String, String>>,
    path: &str,
    options: &Options,
    findings: &mut Findings,
) -> Option<BTreeMap<String, String>> {
    let mut merged = options.global_tags.clone();
    merged.extend(tags.cloned().unwrap_or_default());
    for key in merged.keys() {
        let is_reserved =
            SET_BY_KERF.contains(&key.as_str()) || key.starts_with(CLUSTER_TAG_PREFIX);
        if is_reserved || key.is_empty() {
            findings.error(
                format!("{path}.tags[{key:?}]"),
                "an EC2NodeClass may not have this tag; remove it here or from the global tags",
            );
        }
    }
    Some(merged).filter(|merged| !merged.is_empty())
}
