//! What the controller checks beyond what the API server admits.
//!
//! A pool with problems gets the condition `ValidationSucceeded=False` with these messages and is
//! left out of every decision; the other pools go on.

mod node_overlay;
mod node_pool;
mod requirement;

use kerf_model::labels::{LabelRules, aws, kwok};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ec2_node_class::{EC2NodeClass, validate_kubelet};
use crate::field_error::FieldError;
use crate::legacy::{self, AWSNodeTemplate, Provisioner};
use crate::node_overlay::NodeOverlay;
use crate::node_pool::NodePool;

pub use node_overlay::validate_node_overlay;
pub use node_pool::{validate_node_pool, validate_template};

/// The label rules with every cloud that Kerf knows, as the CRDs have them.
#[must_use]
pub fn label_rules() -> LabelRules {
    LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels())
}

/// Everything the controller would find wrong with an object of any kind it reads. The object is
/// one that the API server admits, with its defaults.
#[must_use]
pub fn validate_object(object: &Value) -> Vec<FieldError> {
    let rules = label_rules();
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    match (text("apiVersion"), text("kind")) {
        ("karpenter.sh/v1", "NodePool") => {
            decoded(object, |pool: NodePool| validate_node_pool(&pool.spec, &rules))
        }
        ("karpenter.sh/v1alpha1", "NodeOverlay") => {
            decoded(object, |overlay: NodeOverlay| validate_node_overlay(&overlay.spec, &rules))
        }
        ("karpenter.k8s.aws/v1", "EC2NodeClass") => decoded(object, |class: EC2NodeClass| {
            let problems = validate_kubelet(&class.spec).into_iter();
            problems.map(|problem| FieldError::new(problem.field, problem.message)).collect()
        }),
        ("karpenter.sh/v1alpha5", "Provisioner") => decoded(object, |provisioner: Provisioner| {
            of_legacy(legacy::validate_provisioner(&provisioner))
        }),
        ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate") => {
            decoded(object, |template: AWSNodeTemplate| {
                of_legacy(legacy::validate_aws_node_template(&template))
            })
        }
        _ => Vec::new(),
    }
}

fn decoded<T: DeserializeOwned>(
    object: &Value,
    check: impl Fn(T) -> Vec<FieldError>,
) -> Vec<FieldError> {
    match serde_json::from_value(object.clone()) {
        Ok(typed) => check(typed),
        Err(error) => vec![FieldError::new("", error)],
    }
}

/// What keeps a legacy object from being used; what merely changes with its conversion is said by
/// the conversion.
fn of_legacy(problems: Vec<legacy::LegacyFinding>) -> Vec<FieldError> {
    let errors = problems.into_iter().filter(legacy::LegacyFinding::is_error);
    errors.map(|problem| FieldError::new(problem.field, problem.message)).collect()
}
