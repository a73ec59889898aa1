//! The pool that is used where none is given.

use serde_json::{Value, json};

/// Which machines the pool is to be made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Machines {
    Aws,
    Kwok,
    File,
}

/// The name of the pool.
pub(super) const NAME: &str = "default";

/// A pool as most people write their first: whatever runs an ordinary image. On AWS the general,
/// compute and memory families from the third generation on, which is what the public guides use.
pub(super) fn manifest(machines: Machines) -> Value {
    let one_of =
        |key: &str, values: &[&str]| json!({ "key": key, "operator": "In", "values": values });
    let mut requirements = vec![
        one_of("kubernetes.io/os", &["linux"]),
        one_of("kubernetes.io/arch", &["amd64"]),
        one_of("karpenter.sh/capacity-type", &["on-demand", "spot"]),
    ];
    if machines == Machines::Aws {
        requirements.push(one_of("karpenter.k8s.aws/instance-category", &["c", "m", "r"]));
        requirements.push(json!({
            "key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["2"],
        }));
    }
    let (group, kind) = match machines {
        Machines::Aws => ("karpenter.k8s.aws", "EC2NodeClass"),
        Machines::Kwok | Machines::File => ("karpenter.kwok.sh", "KWOKNodeClass"),
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

/// What is said about it.
pub(super) fn note(machines: Machines) -> &'static str {
    match machines {
        Machines::Aws => {
            "no NodePool given: assumed one of c, m and r machines from generation 3, linux/amd64, \
             on-demand and spot"
        }
        Machines::Kwok | Machines::File => {
            "no NodePool given: assumed one of all linux/amd64 machines, on-demand and spot"
        }
    }
}
