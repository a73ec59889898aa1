//! The pool that is used where none is given.

use serde_json::{Value, json};

/// Whose instance types the pool is to be made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultProvider {
    Aws,
    Kwok,
    File,
}

/// The name of the pool.
pub(super) const NAME: &str = "default";

/// A pool as most people write their first: whatever runs an ordinary image. On AWS the general,
/// compute and memory families from the third generation on, which is what the public guides use.
pub(super) fn manifest(provider: DefaultProvider) -> Value {
    let one_of =
        |key: &str, values: &[&str]| json!({ "key": key, "operator": "In", "values": values });
    let mut requirements = vec![
        one_of("kubernetes.io/os", &["linux"]),
        one_of("kubernetes.io/arch", &["amd64"]),
        one_of("karpenter.sh/capacity-type", &["on-demand", "spot"]),
    ];
    if provider == DefaultProvider::Aws {
        requirements.push(one_of("karpenter.k8s.aws/instance-category", &["c", "m", "r"]));
        requirements.push(json!({
            "key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["2"],
        }));
    }
    let (group, kind) = match provider {
        DefaultProvider::Aws => ("karpenter.k8s.aws", "EC2NodeClass"),
        DefaultProvider::Kwok | DefaultProvider::File => ("karpenter.kwok.sh", "KWOKNodeClass"),
    };
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": { "name": NAME },
        "spec": { "template": { "spec": {
            "requirements": requirements,
            "nodeClassRef": { "group": group, "kind": kind, "name": NAME },
        } } },
    })
}

/// The note that it was assumed.
pub(super) fn note(provider: DefaultProvider) -> &'static str {
    match provider {
        DefaultProvider::Aws => {
            "no NodePool given: assumed one of c, m and r instance types from generation 3, \
             linux/amd64, on-demand and spot"
        }
        DefaultProvider::Kwok | DefaultProvider::File => {
            "no NodePool given: assumed one of all linux/amd64 instance types, on-demand and spot"
        }
    }
}
