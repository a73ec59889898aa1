//! The requirements of a Provisioner.

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use kerf_model::labels::qualified_name::{check_label_value, check_qualified_name};

use crate::legacy::finding::Findings;
use crate::legacy::labels::{PROVISIONER_NAME, RESTRICTED_MESSAGE, is_restricted, normalized};
use crate::legacy::provisioner::{OPERATORS, ProvisionerSpec};

pub(super) fn check(spec: &ProvisionerSpec, findings: &mut Findings) {
    for (index, entry) in spec.requirements.iter().flatten().enumerate() {
        let field = format!("spec.requirements[{index}]");
        check_key(&entry.key, &format!("{field}.key"), findings);
        check_operator(entry, &field, findings);
        for (at, value) in entry.values.iter().flatten().enumerate() {
            if let Err(problem) = check_label_value(value) {
                let message = format!("{value:?} is not a label value: {problem}");
                findings.error(format!("{field}.values[{at}]"), message);
            }
        }
    }
}

fn check_key(key: &str, field: &str, findings: &mut Findings) {
    if key == PROVISIONER_NAME {
        findings.error(field, format!("{key:?} cannot be required: it is on every node anyway"));
    } else if let Err(problem) = check_qualified_name(key) {
        findings.error(field, format!("{key:?} is not a label key: {problem}"));
    } else if is_restricted(normalized(key)) {
        findings.error(field, format!("{key:?}: {RESTRICTED_MESSAGE}"));
    }
}

fn check_operator(entry: &NodeSelectorRequirement, field: &str, findings: &mut Findings) {
    let values = entry.values.as_deref().unwrap_or_default();
    let operator = entry.operator.as_str();
    match operator {
        "In" if values.is_empty() => {
            findings.error(format!("{field}.values"), "operator In needs at least one value");
        }
        "Gt" | "Lt" if !is_one_integer(values) => findings.error(
            format!("{field}.values"),
            format!("operator {operator} needs a single non-negative integer value"),
        ),
        _ if !OPERATORS.contains(&operator) => findings.error(
            format!("{field}.operator"),
            format!("{operator:?} is not an operator; it must be one of {}", OPERATORS.join(", ")),
        ),
        _ => {}
    }
}

fn is_one_integer(values: &[String]) -> bool {
    matches!(values, [value] if value.parse::<i64>().is_ok_and(|number| number >= 0))
}
