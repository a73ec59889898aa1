//! Whose an instance is, by its tags.

use std::sync::Arc;

/// The clusters of an instance and the tags that routes ask for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The clusters, sorted, each once. Several when the tags contradict each other.
    pub clusters: Vec<Arc<str>>,
    /// Which of the settings' required tags the instance carries, as bits.
    pub(super) required_tags: u64,
}

/// A cluster's name longer than this cannot be real (EKS allows 100) and is ignored.
const NAME_BYTES_MAX: usize = 128;

/// The tag that marks an instance as launched by a provisioner, and its older name.
const PROVISIONER_TAGS: [&str; 2] = ["karpenter.sh/nodepool", "karpenter.sh/provisioner-name"];

/// Gives each cluster its names, step by step; the first step that yields any decides.
const STEPS: [fn(&str, &str) -> Option<Found>; 6] = [
    |key, value| named_by_value(key == "eks:eks-cluster-name", value),
    |key, value| named_by_value(key == "eks:cluster-name", value),
    |key, value| named_by_value(key == "aws:eks:cluster-name", value),
    |key, value| {
        let name = key.strip_prefix("kubernetes.io/cluster/")?;
        match value {
            "owned" => Some(Found::strong(name)),
            "shared" | "1" => Some(Found { name: name.to_owned(), strong: false }),
            _ => None,
        }
    },
    |key, value| named_by_value(key == "alpha.eksctl.io/cluster-name", value),
    |key, value| match key.strip_prefix("k8s.io/cluster/") {
        Some(name) => Some(Found::strong(name)),
        None => named_by_value(key == "KubernetesCluster", value),
    },
];

/// A name, and whether it outweighs the weak ones of the same step.
struct Found {
    name: String,
    strong: bool,
}

impl Found {
    fn strong(name: &str) -> Self {
        Self { name: name.to_owned(), strong: true }
    }
}

fn named_by_value(matches: bool, value: &str) -> Option<Found> {
    matches.then(|| Found::strong(value))
}

impl Owner {
    /// Reads the owner from an instance's tags. `None`: no tag names a cluster.
    pub(super) fn from_tags(tags: &[(String, String)], required: &[String]) -> Option<Self> {
        let clusters = STEPS.iter().find_map(|step| {
            let found = tags.iter().filter_map(|(key, value)| step(key, value));
            let found = found.filter(|found| is_name(&found.name)).collect::<Vec<_>>();
            (!found.is_empty()).then(|| strongest(found))
        })?;
        Some(Self { clusters, required_tags: required_bits(tags, required) })
    }

    /// Whether more than one cluster claims the instance.
    pub fn is_ambiguous(&self) -> bool {
        self.clusters.len() > 1
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
}

/// The strong names, or all if there is none, sorted.
fn strongest(mut found: Vec<Found>) -> Vec<Arc<str>> {
    if found.iter().any(|found| found.strong) {
        found.retain(|found| found.strong);
    }
    let mut names: Vec<Arc<str>> = found.into_iter().map(|found| found.name.into()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn required_bits(tags: &[(String, String)], required: &[String]) -> u64 {
    let carries = |wanted: &str| {
        tags.iter().any(|(key, _)| {
            key == wanted
                || wanted == PROVISIONER_TAGS[0] && PROVISIONER_TAGS.contains(&key.as_str())
        })
    };
    let bits = required.iter().enumerate().filter(|(_, wanted)| carries(wanted));
    bits.fold(0, |bits, (index, _)| bits | 1 << index)
}
