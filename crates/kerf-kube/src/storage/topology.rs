//! Where a volume can be reached.

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use kerf_api::FieldError;
use kerf_model::labels::well_known::HOSTNAME;
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::reader::{CoreFields as _, Reader, all};

/// Alternatives, of which one must hold.
type Alternatives = Vec<Vec<RequirementEntry>>;

/// The required node affinity of a volume. What lies on one node's own disk is not held to that
/// node: the pod moves and the data with it or not at all, which is its owner's choice.
pub(super) fn of_volume(volume: &core::PersistentVolume) -> Result<Alternatives, FieldError> {
    let Some(spec) = &volume.spec else { return Ok(Vec::new()) };
    let required = spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
    let terms = required.map_or(&[][..], |selector| &selector.node_selector_terms);
    let on_one_node = spec.local.is_some() || spec.host_path.is_some();
    let mut reader = Reader::default();
    let read = terms.iter().enumerate().map(|(index, term)| {
        let path = "spec.nodeAffinity.required.nodeSelectorTerms";
        let path = format!("{path}[{index}].matchExpressions");
        let mut entries = reader.expressions(&path, term.match_expressions.as_ref())?;
        if on_one_node {
            entries.retain(|entry| entry.key != HOSTNAME);
        }
        Some(entries)
    });
    let read = all(read);
    let first = |mut problems: Vec<FieldError>| problems.swap_remove(0);
    reader.finish(read).map_err(first)
}

/// The topologies a class may make volumes in.
pub(super) fn of_class(class: &storage::StorageClass) -> Alternatives {
    let entry = |requirement: &core::TopologySelectorLabelRequirement| RequirementEntry {
        key: requirement.key.clone(),
        operator: Operator::In,
        values: requirement.values.clone(),
        min_values: None,
    };
    let term = |term: &core::TopologySelectorTerm| {
        term.match_label_expressions.iter().flatten().map(entry).collect()
    };
    class.allowed_topologies.iter().flatten().map(term).collect()
}
