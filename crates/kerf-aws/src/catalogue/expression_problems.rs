//! What is wrong with the expressions of a node class, found without a cluster.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_catalog::table;
use serde_json::Value;

use super::kubelet_expressions::{ExpressionError, KubeletExpressions};
use super::node_class;

/// A field of a node class, and what is wrong with the expression in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionProblem {
    /// The field.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

/// What is wrong with the kubelet expressions of an EC2NodeClass, each tried on every instance type
/// that is known. Of other objects, and those that cannot be read, nothing is said.
#[must_use]
pub fn expression_problems(object: &Value) -> Vec<ExpressionProblem> {
    if object["kind"] != "EC2NodeClass" {
        return Vec::new();
    }
    let class = serde_json::from_value::<EC2NodeClass>(object.clone()).ok();
    let expressions = class.as_ref().and_then(|class| class.spec.kubelet.as_ref());
    match (class.as_ref(), expressions.map(KubeletExpressions::of)) {
        (Some(class), Some(Ok(Some(expressions)))) => {
            let settings = node_class::settings(class);
            let mut first: BTreeMap<String, ExpressionProblem> = BTreeMap::new();
            for shape in table::shapes() {
                for error in expressions.settings_for(shape, &settings).1 {
                    let problem = problem(error);
                    first.entry(problem.field.clone()).or_insert(problem);
                }
            }
            first.into_values().collect()
        }
        (_, Some(Err(error))) => vec![problem(error)],
        _ => Vec::new(),
    }
}

fn problem(error: ExpressionError) -> ExpressionProblem {
    match error {
        ExpressionError::Invalid { field, why } => ExpressionProblem {
            field,
            message: format!("is neither an amount nor an expression that gives a number: {why}"),
        },
        ExpressionError::Failed { field, instance_type, why } => ExpressionProblem {
            field,
            message: format!("cannot be computed for {instance_type}: {why}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(kubelet: &Value) -> Vec<String> {
        let class = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": {
                "amiSelectorTerms": [{"alias": "al2023@latest"}],
                "subnetSelectorTerms": [{"id": "subnet-1"}],
                "securityGroupSelectorTerms": [{"id": "sg-1"}],
                "role": "nodes",
                "kubelet": kubelet,
            },
        });
        expression_problems(&class).into_iter().map(|problem| problem.field).collect()
    }

    #[test]
    fn expressions_are_tried_on_every_type_and_named_by_their_field() {
        assert_eq!(fields(&json!({"maxPods": 29})), [""; 0]);
        assert_eq!(fields(&json!({"maxPods": "min(max_pods, 110)"})), [""; 0]);
        assert_eq!(fields(&json!({"maxPods": "max_pods +"})), ["spec.kubelet.maxPods"]);
        assert_eq!(fields(&json!({"maxPods": "vcpus - 8"})), ["spec.kubelet.maxPods"], "negative");
        let kubelet = json!({"kubeReserved": {"cpu": "vcpus - 2", "memory": "memory_mib / 10"}});
        assert_eq!(fields(&kubelet), ["spec.kubelet.kubeReserved[cpu]"]);
        assert_eq!(expression_problems(&json!({"kind": "NodePool"})), []);
    }
}
