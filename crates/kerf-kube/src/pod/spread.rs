//! Topology spread constraints of a pod.

use k8s_openapi::api::core::v1 as core;
use kerf_model::pod::SpreadConstraint;

use crate::reader::{CoreFields as _, Reader, all};
use crate::selector::label_selector;

/// Spread constraints, in their order.
pub(super) fn spreads(
    reader: &mut Reader,
    path: &str,
    list: Option<&Vec<core::TopologySpreadConstraint>>,
) -> Option<Vec<SpreadConstraint>> {
    let entries = list.into_iter().flatten().enumerate().map(|(index, constraint)| {
        spread(reader, &format!("{path}.topologySpreadConstraints[{index}]"), constraint)
    });
    all(entries)
}

/// One spread constraint.
pub(crate) fn spread(
    reader: &mut Reader,
    path: &str,
    constraint: &core::TopologySpreadConstraint,
) -> Option<SpreadConstraint> {
    let core::TopologySpreadConstraint {
        label_selector: selector,
        match_label_keys,
        max_skew,
        min_domains,
        node_affinity_policy,
        node_taints_policy,
        topology_key,
        when_unsatisfiable,
    } = constraint;
    let max_skew = reader.positive(&format!("{path}.maxSkew"), *max_skew);
    let min_domains = match min_domains {
        None => Some(None),
        Some(number) => reader.positive(&format!("{path}.minDomains"), *number).map(Some),
    };
    let mut choice = |name: &str, word: Option<&str>, [yes, no]: [&str; 2], default: bool| {
        let field = format!("{path}.{name}");
        match word {
            None => Some(default),
            Some(word) if word == yes => Some(true),
            Some(word) if word == no => Some(false),
            Some(word) => {
                reader.refuse(field, format_args!("{word:?} is neither {yes} nor {no}"));
                None
            }
        }
    };
    let required = choice(
        "whenUnsatisfiable",
        Some(when_unsatisfiable),
        ["DoNotSchedule", "ScheduleAnyway"],
        true,
    );
    let policy = ["Honor", "Ignore"];
    let honours_affinity =
        choice("nodeAffinityPolicy", node_affinity_policy.as_deref(), policy, true);
    let honours_taints = choice("nodeTaintsPolicy", node_taints_policy.as_deref(), policy, false);
    Some(SpreadConstraint {
        topology_key: topology_key.clone(),
        max_skew: max_skew?,
        required: required?,
        min_domains: min_domains?,
        selector: selector.as_ref().map(label_selector),
        match_label_keys: match_label_keys.clone().unwrap_or_default(),
        honours_affinity: honours_affinity?,
        honours_taints: honours_taints?,
    })
}
