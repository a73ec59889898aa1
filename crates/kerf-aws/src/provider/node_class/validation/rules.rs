//! What can be wrong with a node class whatever AWS says.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{EC2NodeClassSpec, KubeletErrorReason, MaxPods, validate_kubelet};
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;
use kerf_engine::condition::Status;
use kerf_model::quantity::Quantity;

use crate::catalogue::kubelet_expressions::KubeletExpressions;
use crate::provider::node_class::conditions::{
    AMIS_READY, INSTANCE_PROFILE_READY, SECURITY_GROUPS_READY, SUBNETS_READY,
};
use crate::provider::node_class::part::PartError;

/// What a launch needs first.
const DEPENDENCIES: [&str; 4] =
    [AMIS_READY, INSTANCE_PROFILE_READY, SECURITY_GROUPS_READY, SUBNETS_READY];
const DEPENDENCIES_NOT_READY: &str = "DependenciesNotReady";

/// The kubelet's settings: those that no kubelet takes, expressions, and those that the image
/// family cannot pass on.
pub(super) fn kubelet(spec: &EC2NodeClassSpec, allows_expressions: bool) -> Result<(), PartError> {
    let errors = validate_kubelet(spec);
    let of = |reason: KubeletErrorReason| {
        let these = errors.iter().filter(|error| error.reason == reason);
        let texts: Vec<String> =
            these.map(|error| format!("{} {}", error.field, error.message)).collect();
        (!texts.is_empty()).then(|| PartError::not_ready(reason.as_str(), texts.join("; ")))
    };
    if let Some(invalid) = of(KubeletErrorReason::InvalidKubeletConfiguration) {
        return Err(invalid);
    }
    if let Some(field) = expression(spec).filter(|_| !allows_expressions) {
        let message = format!("{field} is an expression, and the feature gate NodeClassCEL is off");
        return Err(PartError::not_ready("KubeletExpressionsDisabled", message));
    }
    if let Some(Err(error)) = spec.kubelet.as_ref().map(KubeletExpressions::of) {
        return Err(PartError::not_ready("KubeletExpressionInvalid", error.to_string()));
    }
    of(KubeletErrorReason::UnsupportedKubeletConfiguration).map_or(Ok(()), Err)
}

/// The first field that is neither a number nor a quantity.
fn expression(spec: &EC2NodeClassSpec) -> Option<String> {
    let kubelet = spec.kubelet.as_ref()?;
    if matches!(kubelet.max_pods, Some(MaxPods::Expression(_))) {
        return Some("spec.kubelet.maxPods".to_owned());
    }
    let reserved =
        [("kubeReserved", &kubelet.kube_reserved), ("systemReserved", &kubelet.system_reserved)];
    reserved.into_iter().find_map(|(name, map)| {
        let mut amounts = map.iter().flatten();
        let (key, _) = amounts.find(|(_, amount)| Quantity::parse(amount).is_err())?;
        Some(format!("spec.kubelet.{name}[{key}]"))
    })
}

/// What is computed for each type: for none of them may it fail.
pub(super) fn expressions<'s>(
    spec: &EC2NodeClassSpec,
    settings: &NodeClassSettings,
    shapes: impl Iterator<Item = &'s Shape>,
) -> Result<(), PartError> {
    let expressions = spec.kubelet.as_ref().map(KubeletExpressions::of);
    let Some(Ok(Some(expressions))) = expressions else { return Ok(()) };
    let mut errors = shapes.flat_map(|shape| expressions.settings_for(shape, settings).1);
    let Some(first) = errors.next() else { return Ok(()) };
    let message = match errors.count() {
        0 => first.to_string(),
        more => format!("{first}; and {more} more such"),
    };
    Err(PartError::not_ready("KubeletExpressionEvaluationFailed", message))
}

/// Whether everything a launch needs is there.
pub(super) fn dependencies(status_of: impl Fn(&str) -> Status) -> Result<(), PartError> {
    let lacking = |status: Status| {
        let these = DEPENDENCIES.iter().filter(|kind| status_of(kind) == status);
        these.map(|kind| format!("{kind}={status}")).collect::<Vec<_>>().join(", ")
    };
    let (not_there, not_known) = (lacking(Status::False), lacking(Status::Unknown));
    if !not_there.is_empty() {
        let message = format!("an instance cannot be launched without: {not_there}");
        return Err(PartError::not_ready(DEPENDENCIES_NOT_READY, message));
    }
    if !not_known.is_empty() {
        let message = format!("it is not known yet whether there is: {not_known}");
        return Err(PartError::unknown(DEPENDENCIES_NOT_READY, message));
    }
    Ok(())
}

/// Tags that are Kerf's own. An object may have been stored before the schema forbade them.
pub(super) fn tags(
    tags: Option<&BTreeMap<String, String>>,
    is_restricted: fn(&str) -> bool,
) -> Result<(), PartError> {
    let keys = tags.into_iter().flatten().map(|(key, _)| key.as_str());
    let restricted: Vec<&str> = keys.filter(|key| is_restricted(key)).collect();
    if restricted.is_empty() {
        return Ok(());
    }
    let message = format!("spec.tags: only Kerf may set {}", restricted.join(", "));
    Err(PartError::not_ready("TagValidationFailed", message))
}

#[cfg(test)]
mod tests {
    use kerf_catalog::table;
    use serde_json::json;

    use super::super::super::part::NotReady;
    use super::*;

    fn spec(family: &str, kubelet: serde_json::Value) -> EC2NodeClassSpec {
        serde_json::from_value(json!({
            "amiFamily": family, "amiSelectorTerms": [{"id": "ami-1"}], "kubelet": kubelet,
            "subnetSelectorTerms": [], "securityGroupSelectorTerms": [], "role": "nodes",
        }))
        .unwrap()
    }

    fn refusal(result: Result<(), PartError>) -> (Status, &'static str, String) {
        match result {
            Err(PartError::NotReady(NotReady { status, reason, message })) => {
                (status, reason, message)
            }
            result => panic!("{result:?}"),
        }
    }

    #[test]
    fn each_bad_setting_of_the_kubelet_has_its_reason_and_field() {
        for (family, settings, gate, reason, field) in [
            (
                "AL2023",
                json!({"podsPerCore": -1}),
                false,
                "InvalidKubeletConfiguration",
                "podsPerCore",
            ),
            ("AL2023", json!({"unheardOf": 1}), false, "InvalidKubeletConfiguration", "unheardOf"),
            (
                "AL2023",
                json!({"maxPods": "vcpus * 4"}),
                false,
                "KubeletExpressionsDisabled",
                "maxPods",
            ),
            (
                "AL2023",
                json!({"kubeReserved": {"cpu": "vcpus"}}),
                false,
                "KubeletExpressionsDisabled",
                "kubeReserved[cpu]",
            ),
            (
                "AL2023",
                json!({"maxPods": "cores * 4"}),
                true,
                "KubeletExpressionInvalid",
                "maxPods",
            ),
            (
                "Bottlerocket",
                json!({"podsPerCore": 4}),
                false,
                "UnsupportedKubeletConfiguration",
                "podsPerCore",
            ),
        ] {
            let (status, found, message) = refusal(kubelet(&spec(family, settings.clone()), gate));
            assert_eq!((status, found), (Status::False, reason), "{settings}");
            assert!(message.contains(&format!("spec.kubelet.{field}")), "{message}");
        }
        let computed = json!({"maxPods": "vcpus * 4"});
        assert_eq!(kubelet(&spec("AL2023", computed), true), Ok(()));
        let fine = json!({"maxPods": 20, "kubeReserved": {"cpu": "100m"}});
        assert_eq!(kubelet(&spec("AL2023", fine), false), Ok(()));
    }

    #[test]
    fn an_expression_must_hold_for_every_type_there_is() {
        let shapes =
            || ["m5.large", "m5.xlarge", "m5.4xlarge"].into_iter().filter_map(table::shape);
        let tried = |text: &str| {
            let spec = spec("AL2023", json!({ "maxPods": text }));
            expressions(&spec, &NodeClassSettings::default(), shapes())
        };
        assert_eq!(tried("vcpus * 4"), Ok(()));
        let (status, reason, message) = refusal(tried("vcpus - 8"));
        assert_eq!((status, reason), (Status::False, "KubeletExpressionEvaluationFailed"));
        assert!(message.contains("m5.large") && message.ends_with("1 more such"), "{message}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let (_, _, message) =
            refusal(kubelet(&spec("AL2", json!({"podsPerCore": -1, "maxPods": -2})), false));
        assert!(message.contains("maxPods") && message.contains("; "), "{message}");
    }

    #[test]
    fn what_is_not_there_counts_more_than_what_is_not_known() {
        let with = |images, subnets| {
            dependencies(move |kind| match kind {
                AMIS_READY => images,
                SUBNETS_READY => subnets,
                _ => Status::True,
            })
        };
        let (status, reason, message) = refusal(with(Status::False, Status::Unknown));
        assert_eq!((status, reason), (Status::False, "DependenciesNotReady"));
        assert!(message.ends_with("AMIsReady=False"), "{message}");
        let (status, reason, message) = refusal(with(Status::True, Status::Unknown));
        assert_eq!((status, reason), (Status::Unknown, "DependenciesNotReady"));
        assert!(message.ends_with("SubnetsReady=Unknown"), "{message}");
        assert_eq!(with(Status::True, Status::True), Ok(()));
    }

    #[test]
    fn tags_that_permissions_rest_on_are_refused_by_name() {
        let with = |keys: &[&str]| {
            let all = keys.iter().map(|key| ((*key).to_owned(), String::new())).collect();
            tags(Some(&all), |key| key.starts_with("karpenter"))
        };
        let (_, reason, message) = refusal(with(&["karpenter.sh/nodepool", "team"]));
        assert_eq!(reason, "TagValidationFailed");
        assert!(message.ends_with("may set karpenter.sh/nodepool"), "{message}");
        assert_eq!((with(&["team"]), tags(None, |_| true)), (Ok(()), Ok(())));
    }
}
