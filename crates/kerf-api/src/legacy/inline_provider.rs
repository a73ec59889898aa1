//! A template written into a Provisioner's `provider` field instead of an object of its own.

use serde_json::{Map, Value};

use super::aws_node_template::{AWSNodeTemplateSpec, CLUSTER_TAG_PREFIX};
use super::finding::Findings;
use super::selector::SelectorMap;
use super::validation::check_template;

const PATH: &str = "spec.provider";

/// Fields an inline template may have. The others came to the AWSNodeTemplate later.
const FIELDS: [&str; 9] = [
    "amiFamily",
    "blockDeviceMappings",
    "context",
    "instanceProfile",
    "launchTemplate",
    "metadataOptions",
    "securityGroupSelector",
    "subnetSelector",
    "tags",
];
/// Type information some manifests carry.
const TYPE_FIELDS: [(&str, &str); 2] =
    [("apiVersion", "extensions.karpenter.sh/v1alpha1"), ("kind", "AWS")];

/// The template, if the object is one; what is wrong with it goes to the findings. Selectors that
/// are missing are those of the cluster's own tag, if its name is known.
pub(crate) fn read(
    provider: &Map<String, Value>,
    cluster_name: Option<&str>,
    findings: &mut Findings,
) -> Option<AWSNodeTemplateSpec> {
    let mut known = Map::new();
    let mut is_readable = true;
    for (name, value) in provider.iter().filter(|(_, value)| !value.is_null()) {
        if let Some((_, expected)) = TYPE_FIELDS.iter().find(|(field, _)| field == name) {
            if value.as_str() != Some(expected) {
                findings.warning(format!("{PATH}.{name}"), format!("ignored: it is {expected}"));
            }
        } else if !FIELDS.contains(&name.as_str()) {
            let message = "not a field of an inline provider; use an AWSNodeTemplate for more";
            findings.error(format!("{PATH}.{name}"), message);
        } else if is_field_readable(name, value, findings) {
            known.insert(name.clone(), value.clone());
        } else {
            is_readable = false;
        }
    }
    let spec = serde_json::from_value(Value::Object(known)).ok().filter(|_| is_readable)?;
    let spec = with_selectors(spec, cluster_name);
    check_template(&spec, PATH, findings);
    Some(spec)
}

/// Provisioners found subnets and security groups by the tag that EKS and its tools put on them,
/// whatever its value, before they had selectors.
fn with_selectors(
    mut spec: AWSNodeTemplateSpec,
    cluster_name: Option<&str>,
) -> AWSNodeTemplateSpec {
    let Some(name) = cluster_name.filter(|_| spec.launch_template.is_none()) else { return spec };
    let of_cluster =
        || SelectorMap::from_iter([(format!("{CLUSTER_TAG_PREFIX}{name}"), "*".to_owned())]);
    spec.subnet_selector.get_or_insert_with(of_cluster);
    spec.security_group_selector.get_or_insert_with(of_cluster);
    spec
}

/// Reads one field by itself, so that a mistake can be told with the name of its field.
fn is_field_readable(name: &str, value: &Value, findings: &mut Findings) -> bool {
    let alone = Map::from_iter([(name.to_owned(), value.clone())]);
    match serde_json::from_value::<AWSNodeTemplateSpec>(Value::Object(alone)) {
        Err(problem) => {
            findings.error(format!("{PATH}.{name}"), problem.to_string());
            false
        }
        Ok(spec) => {
            let kept = serde_json::to_value(spec).unwrap_or_default();
            report_unknown(value, &kept[name], &format!("{PATH}.{name}"), findings);
            true
        }
    }
}

/// Reports every field that was written but is not there after reading.
fn report_unknown(written: &Value, kept: &Value, path: &str, findings: &mut Findings) {
    match written {
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                let path = format!("{path}.{name}");
                match kept.get(name) {
                    Some(kept) => report_unknown(value, kept, &path, findings),
                    None => findings.error(path, "unknown field"),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                report_unknown(item, &kept[index], &format!("{path}[{index}]"), findings);
            }
        }
        _ => {}
    }
}
