//! What a node is made of: the part that pool templates and claims share.

use k8s_openapi::api::core::v1 as core;
use kerf_model::node_spec::{NodeClassRef as ModelNodeClassRef, NodeSpec};
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList as ModelResourceList;
use kerf_model::taint::Taint;

use crate::node_class_ref::NodeClassRef;
use crate::reader::Reader;
use crate::schema::quantity::{Quantity, ResourceList};
use crate::schema::requirement::Requirement;

/// The fields a template's spec and a claim's spec have in common.
pub(super) struct SharedFields<'a> {
    pub(super) requirements: &'a [Requirement],
    pub(super) taints: Option<&'a Vec<core::Taint>>,
    pub(super) startup_taints: Option<&'a Vec<core::Taint>>,
    pub(super) node_class_ref: &'a NodeClassRef,
    pub(super) termination_grace_period: Option<&'a str>,
    pub(super) expire_after: Option<&'a str>,
}

/// Reads them; `path` leads to the spec.
pub(super) fn read(reader: &mut Reader, path: &str, fields: &SharedFields<'_>) -> Option<NodeSpec> {
    let at = |field: &str| format!("{path}.{field}");
    let requirements = reader.requirements(&at("requirements"), fields.requirements);
    let taints = reader.taints(&at("taints"), fields.taints);
    let startup_taints = reader.taints(&at("startupTaints"), fields.startup_taints);
    let expire_after = reader.nillable(&at("expireAfter"), fields.expire_after);
    let termination_grace = match fields.termination_grace_period {
        None => Some(None),
        Some(text) => reader.parse(&at("terminationGracePeriod"), text).map(Some),
    };
    let NodeClassRef { group, kind, name } = fields.node_class_ref.clone();
    Some(NodeSpec {
        requirements: requirements?,
        taints: taints?,
        startup_taints: startup_taints?,
        node_class: ModelNodeClassRef { group, kind, name },
        termination_grace: termination_grace?,
        expire_after: expire_after?,
    })
}

pub(super) fn requirements(entries: &[RequirementEntry]) -> Vec<Requirement> {
    let written = |entry: &RequirementEntry| Requirement {
        key: entry.key.clone(),
        operator: entry.operator.as_str().to_owned(),
        values: (!entry.values.is_empty()).then(|| entry.values.clone()),
        min_values: entry.min_values.map(i64::from),
    };
    entries.iter().map(written).collect()
}

pub(super) fn taints(taints: &[Taint]) -> Option<Vec<core::Taint>> {
    let written = |taint: &Taint| core::Taint {
        key: taint.key.clone(),
        value: (!taint.value.is_empty()).then(|| taint.value.clone()),
        effect: taint.effect.as_str().to_owned(),
        time_added: None,
    };
    (!taints.is_empty()).then(|| taints.iter().map(written).collect())
}

pub(super) fn node_class_ref(reference: &ModelNodeClassRef) -> NodeClassRef {
    let ModelNodeClassRef { group, kind, name } = reference.clone();
    NodeClassRef { group, kind, name }
}

pub(super) fn resources(list: &ModelResourceList) -> Option<ResourceList> {
    let written = |(name, quantity): (&str, kerf_model::quantity::Quantity)| {
        (name.to_owned(), Quantity::Text(quantity.to_string()))
    };
    (!list.is_empty()).then(|| list.iter().map(written).collect())
}
