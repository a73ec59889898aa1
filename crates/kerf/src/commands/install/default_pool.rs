//! The pool `default`, from a map of requirements.

use kerf_model::labels::well_known::{ARCH, ARCH_AMD64, CAPACITY_TYPE, ON_DEMAND, OS, OS_LINUX};
use serde_json::{Value, json};

use super::settings::Settings;

/// The tag by which subnets and security groups are found.
pub(crate) const DISCOVERY: &str = "karpenter.sh/discovery";
/// Who asks for nothing of the kind gets what Karpenter's legacy API gave.
const DEFAULTS: [(&str, &str); 3] =
    [(CAPACITY_TYPE, ON_DEMAND), (ARCH, ARCH_AMD64), (OS, OS_LINUX)];

/// A NodePool and its EC2NodeClass.
pub(crate) fn current(settings: &Settings) -> Vec<Value> {
    let terms = json!([{"tags": {DISCOVERY: settings.cluster}}]);
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": settings.node_role,
            "subnetSelectorTerms": terms,
            "securityGroupSelectorTerms": terms,
        },
    });
    let class_ref =
        json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "30s"},
            "template": {"spec": {
                "nodeClassRef": class_ref,
                "requirements": requirements(settings),
            }},
        },
    });
    vec![class, pool]
}

/// The same as a Provisioner.
pub(crate) fn provisioner(settings: &Settings) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1alpha5",
        "kind": "Provisioner",
        "metadata": {"name": "default"},
        "spec": {
            "requirements": requirements(settings),
            "provider": {"instanceProfile": settings.instance_profile()},
            "ttlSecondsAfterEmpty": 30,
        },
    })
}

fn requirements(settings: &Settings) -> Vec<Value> {
    let given = &settings.requirements;
    let requirement =
        |key: &str, values: Value| json!({"key": key, "operator": "In", "values": values});
    let missing = DEFAULTS.iter().filter(|(key, _)| !given.iter().any(|(it, _)| it == key));
    given
        .iter()
        .map(|(key, values)| requirement(key, json!(values)))
        .chain(missing.map(|(key, value)| requirement(key, json!([value]))))
        .collect()
}
