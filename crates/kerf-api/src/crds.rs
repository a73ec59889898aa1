//! Every custom resource definition, as it is written to `deploy/crds/`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::capacity_buffer::CapacityBuffer;
use crate::ec2_node_class::EC2NodeClass;
use crate::kwok_node_class::KWOKNodeClass;
use crate::legacy::{AWSNodeTemplate, Provisioner};
use crate::node_claim::NodeClaim;
use crate::node_overlay::NodeOverlay;
use crate::node_pool::NodePool;

/// Makes a definition.
type Maker = fn() -> CustomResourceDefinition;

/// Every kind and how its definition is made.
const KINDS: [(&str, Maker); 8] = [
    ("AWSNodeTemplate", AWSNodeTemplate::crd),
    ("CapacityBuffer", CapacityBuffer::crd),
    ("EC2NodeClass", EC2NodeClass::crd),
    ("KWOKNodeClass", KWOKNodeClass::crd),
    ("NodeClaim", NodeClaim::crd),
    ("NodeOverlay", NodeOverlay::crd),
    ("NodePool", NodePool::crd),
    ("Provisioner", Provisioner::crd),
];

/// All definitions, in the order of their file names.
#[must_use]
pub fn crds() -> Vec<CustomResourceDefinition> {
    crds_of(|_| true)
}

/// The definitions of the kinds that are wanted, in the order of their file names. Making one takes
/// milliseconds, which a short command may want to save.
#[must_use]
pub fn crds_of(wanted: impl Fn(&str) -> bool) -> Vec<CustomResourceDefinition> {
    let kinds = KINDS.into_iter().filter(|(kind, _)| wanted(kind));
    let mut crds: Vec<_> = kinds.map(|(_, make)| make()).collect();
    crds.iter_mut().for_each(settle);
    crds.sort_by_key(file_name);
    crds
}

/// Whether there is a definition of that kind.
#[must_use]
pub fn has_crd(kind: &str) -> bool {
    KINDS.iter().any(|(known, _)| *known == kind)
}

/// `<group>_<plural>.yaml`.
#[must_use]
pub fn file_name(crd: &CustomResourceDefinition) -> String {
    format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural)
}

/// Brings a derived definition to the form the public API has: an optional field may be left out,
/// but `null` is not a value for it; a spec that has a default need not be given.
fn settle(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut()) {
            without_nullable(schema);
            without_defaulted(schema);
        }
    }
}

/// Takes fields with a default out of those an object must have.
fn without_defaulted(schema: &mut JSONSchemaProps) {
    let Some(required) = &mut schema.required else { return };
    let properties = schema.properties.iter().flatten();
    let defaulted: Vec<&String> =
        properties.filter(|(_, own)| own.default.is_some()).map(|(name, _)| name).collect();
    required.retain(|name| !defaulted.contains(&name));
    if required.is_empty() {
        schema.required = None;
    }
}

fn without_nullable(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    for property in schema.properties.iter_mut().flat_map(|map| map.values_mut()) {
        without_nullable(property);
    }
    match schema.items.as_mut() {
        Some(JSONSchemaPropsOrArray::Schema(items)) => without_nullable(items),
        Some(JSONSchemaPropsOrArray::Schemas(list)) => list.iter_mut().for_each(without_nullable),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = schema.additional_properties.as_mut() {
        without_nullable(values);
    }
}
