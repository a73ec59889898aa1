//! The taints and startup taints of a Provisioner, which share one set of keys and effects.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Taint;
use kerf_model::labels::qualified_name::check_qualified_name;

use crate::legacy::finding::Findings;
use crate::legacy::provisioner::{EFFECTS, ProvisionerSpec};

pub(super) fn check(spec: &ProvisionerSpec, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (list, taints) in [("taints", &spec.taints), ("startupTaints", &spec.startup_taints)] {
        for (index, taint) in taints.iter().flatten().enumerate() {
            let field = format!("spec.{list}[{index}]");
            check_taint(taint, &field, findings);
            if !seen.insert((taint.key.clone(), taint.effect.clone())) {
                findings.error(
                    &field,
                    format!("another taint has key {:?} and effect {:?}", taint.key, taint.effect),
                );
            }
        }
    }
}

fn check_taint(taint: &Taint, field: &str, findings: &mut Findings) {
    if let Err(problem) = check_qualified_name(&taint.key) {
        findings.error(format!("{field}.key"), format!("{:?}: {problem}", taint.key));
    }
    let value = taint.value.as_deref().filter(|value| !value.is_empty());
    if let Some((value, problem)) = value.zip(value.and_then(|v| check_qualified_name(v).err())) {
        findings.error(format!("{field}.value"), format!("{value:?}: {problem}"));
    }
    if !EFFECTS.contains(&taint.effect.as_str()) {
        findings.error(
            format!("{field}.effect"),
            format!("{:?} is not NoSchedule, PreferNoSchedule or NoExecute", taint.effect),
        );
    }
}
