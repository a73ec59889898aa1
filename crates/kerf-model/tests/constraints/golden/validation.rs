//! What makes a pool unusable: its labels, taints and requirements. Only whether it is refused is
//! compared; Kerf's words are its own.

use kerf_model::labels::{LabelRules, check_labels, kwok, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect, check_taints};
use serde_json::Value;

use super::{entry, map, recording, rows, text};

/// Whether a pool with this template is refused; `None` if it holds a taint without effect, which
/// the API never stores.
fn is_refused(template: &Value, rules: &LabelRules) -> Option<bool> {
    let labels = map(&template["metadata"]["labels"]);
    let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let labels_refused = !check_labels(labels, rules).is_empty();
    let taints_refused = taints_refused(&template["spec"])?;
    let requirements = template["spec"]["requirements"].as_array().into_iter().flatten();
    let requirements_refused = requirements.map(|row| requirement_refused(row, rules));
    Some(labels_refused || taints_refused || requirements_refused.fold(false, |a, b| a | b))
}

fn requirement_refused(row: &Value, rules: &LabelRules) -> bool {
    let key = text(row, "key");
    if text(row, "operator").parse::<Operator>().is_err() {
        return true;
    }
    let entry: RequirementEntry = entry(row, key);
    key == well_known::NODE_POOL || !entry.check(rules).problems.is_empty()
}

fn taints_refused(spec: &Value) -> Option<bool> {
    let mut lists = [Vec::new(), Vec::new()];
    let mut unknown_effect = false;
    for (list, name) in lists.iter_mut().zip(["taints", "startupTaints"]) {
        for row in spec[name].as_array().into_iter().flatten() {
            match text(row, "effect") {
                "" => return None,
                effect => match effect.parse::<TaintEffect>() {
                    Ok(effect) => {
                        list.push(Taint::new(text(row, "key"), text(row, "value"), effect));
                    }
                    Err(_) => unknown_effect = true,
                },
            }
        }
    }
    Some(unknown_effect || !check_taints(&lists[0], &lists[1]).is_empty())
}

#[test]
fn pools_are_refused_exactly_where_the_recording_refuses_them() {
    let recorded = recording("validation");
    let core = LabelRules::core();
    let with_kwok = LabelRules::core().with(&kwok::provider_labels());
    let mut compared = 0;
    for (member, rules) in [("rows", &core), ("kwok", &with_kwok)] {
        for row in rows(&recorded, member) {
            let Some(refused) = is_refused(&row["template"], rules) else { continue };
            let expected = row["errors"].as_array().is_some_and(|errors| !errors.is_empty());
            assert_eq!(refused, expected, "{row}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared} pools were compared");
}
