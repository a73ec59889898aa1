//! Labels and annotations of the v1alpha5 era, and which of them a person may use.

use kerf_model::labels::{annotation, aws, well_known};
use serde_json::Value;

use crate::schema::rules::{cel_list, rule};

/// Which Provisioner a node came from; today `karpenter.sh/nodepool`.
pub const PROVISIONER_NAME: &str = "karpenter.sh/provisioner-name";
/// Tag with the cluster's name; today `eks:eks-cluster-name`.
pub(crate) const MANAGED_BY: &str = "karpenter.sh/managed-by";
/// Kept consolidation away from a node; today `do-not-disrupt`, which keeps everything away.
pub(crate) const DO_NOT_CONSOLIDATE: &str = "karpenter.sh/do-not-consolidate";
/// The label of a node's pod capacity, which instance types no longer carry.
pub(crate) const INSTANCE_PODS: &str = "karpenter.k8s.aws/instance-pods";
/// The label of a node's image, which instance types no longer carry.
pub(crate) const INSTANCE_AMI_ID: &str = "karpenter.k8s.aws/instance-ami-id";
/// Where `kubectl apply` remembers the manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Annotations that describe the legacy object itself and would be wrong on its successor: hashes
/// are computed differently, and the remembered manifest is of another kind.
pub(crate) const OBSOLETE_ANNOTATIONS: [&str; 5] = [
    "karpenter.sh/provisioner-hash",
    "karpenter.k8s.aws/nodetemplate-hash",
    "karpenter.sh/emptiness-timestamp",
    "compatibility.karpenter.sh/provider",
    LAST_APPLIED,
];

/// Node annotations that have a new name.
pub(crate) const RENAMED_NODE_ANNOTATIONS: [(&str, &str); 1] =
    [(DO_NOT_CONSOLIDATE, annotation::DO_NOT_DISRUPT)];

/// Labels inside restricted domains that were usable anyway.
const WELL_KNOWN: [&str; 28] = [
    well_known::ZONE,
    well_known::REGION,
    well_known::INSTANCE_TYPE,
    well_known::ARCH,
    well_known::OS,
    well_known::CAPACITY_TYPE,
    well_known::WINDOWS_BUILD,
    aws::INSTANCE_HYPERVISOR,
    aws::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED,
    aws::INSTANCE_CATEGORY,
    aws::INSTANCE_FAMILY,
    aws::INSTANCE_GENERATION,
    aws::INSTANCE_LOCAL_NVME,
    aws::INSTANCE_SIZE,
    aws::INSTANCE_CPU,
    aws::INSTANCE_CPU_MANUFACTURER,
    aws::INSTANCE_MEMORY,
    aws::INSTANCE_EBS_BANDWIDTH,
    aws::INSTANCE_NETWORK_BANDWIDTH,
    aws::INSTANCE_GPU_NAME,
    aws::INSTANCE_GPU_MANUFACTURER,
    aws::INSTANCE_GPU_COUNT,
    aws::INSTANCE_GPU_MEMORY,
    aws::INSTANCE_ACCELERATOR_NAME,
    aws::INSTANCE_ACCELERATOR_MANUFACTURER,
    aws::INSTANCE_ACCELERATOR_COUNT,
    INSTANCE_PODS,
    INSTANCE_AMI_ID,
];

/// Old spellings of requirement keys.
const ALIASES: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", well_known::ZONE),
    ("failure-domain.beta.kubernetes.io/region", well_known::REGION),
    ("beta.kubernetes.io/arch", well_known::ARCH),
    ("beta.kubernetes.io/os", well_known::OS),
    ("beta.kubernetes.io/instance-type", well_known::INSTANCE_TYPE),
];

const RESTRICTED_DOMAINS: [&str; 4] = ["kubernetes.io", "k8s.io", "karpenter.sh", aws::DOMAIN];
const EXEMPT_DOMAINS: [&str; 3] =
    ["kops.k8s.io", "node.kubernetes.io", "node-restriction.kubernetes.io"];

/// The key in the spelling in use today.
pub(crate) fn normalized(key: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new)
}

/// Whether the key lies in a domain that is not a person's to use.
pub(crate) fn is_restricted(key: &str) -> bool {
    if WELL_KNOWN.contains(&key) {
        return false;
    }
    let Some((domain, _)) = key.split_once('/') else { return false };
    let within = |domains: &[&str]| domains.iter().any(|end| domain.ends_with(end));
    within(&RESTRICTED_DOMAINS) && !within(&EXEMPT_DOMAINS)
}

/// Rules for the keys of `spec.labels`.
pub(crate) fn label_key_rules() -> Value {
    Value::Array(vec![
        rule(
            &format!("!('{PROVISIONER_NAME}' in self)"),
            &format!("label \"{PROVISIONER_NAME}\" is restricted: Kerf sets it by itself"),
        ),
        rule(
            &format!("self.all(x, {})", unrestricted("x", WELL_KNOWN.as_slice())),
            RESTRICTED_MESSAGE,
        ),
    ])
}

/// Rules for a requirement's key, which may also be an old spelling.
pub(crate) fn requirement_key_rules() -> Value {
    let usable: Vec<_> = WELL_KNOWN.into_iter().chain(ALIASES.map(|(old, _)| old)).collect();
    Value::Array(vec![
        rule(
            &format!("self != '{PROVISIONER_NAME}'"),
            &format!("label \"{PROVISIONER_NAME}\" is restricted: Kerf sets it by itself"),
        ),
        rule(&unrestricted("self", &usable), RESTRICTED_MESSAGE),
    ])
}

/// What a person reads about a restricted key.
pub(crate) const RESTRICTED_MESSAGE: &str = "label domains kubernetes.io, k8s.io, karpenter.sh and \
    karpenter.k8s.aws are restricted; use a well-known label or a domain of your own";

fn unrestricted(key: &str, usable: &[&str]) -> String {
    let domains = |ends: &[&str]| ends.join("|").replace('.', "[.]");
    // The Provisioner's own label has a rule, and so a sentence, of its own.
    let usable = cel_list(usable.iter().copied().chain([PROVISIONER_NAME]));
    format!(
        "{key} in {usable} || !{key}.matches('^[^/]*({})/') || {key}.matches('^[^/]*({})/')",
        domains(&RESTRICTED_DOMAINS),
        domains(&EXEMPT_DOMAINS),
    )
}
