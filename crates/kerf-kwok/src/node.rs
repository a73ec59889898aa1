//! Instances as Node objects, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, NodeSpec, NodeStatus, Taint};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use kerf_engine::action::LaunchOffering;
use kerf_engine::event::Instance;
use kerf_engine::observed::Claim;
use kerf_model::generated_name::suffix;
use kerf_model::hash::fnv1a;
use kerf_model::labels::kwok;
use kerf_model::labels::well_known::HOSTNAME;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_model::taint::UNREGISTERED_KEY;
use kube::Resource;
use kube::api::ObjectMeta;

/// How provider ids of simulated instances begin; the name of the node follows.
pub(crate) const PROVIDER_PREFIX: &str = "kwok://";
/// The part of the fleet all nodes belong to.
const PARTITION_VALUE: &str = "a";

/// The name of a claim's node: one for each uid.
pub(crate) fn name(claim: &Claim) -> String {
    let (random, rest) = suffix(fnv1a(claim.meta.uid.as_bytes()));
    format!("kwok-{}-{random}-{}", claim.meta.name, rest % 10_000)
}

/// The node of a claim.
pub(crate) fn make(claim: &Claim, choice: &LaunchOffering<'_>) -> Node {
    let name = name(claim);
    // A claim of a static pool asks for nothing, and has what its type has.
    let own = &*choice.instance_type.capacity;
    let requests = if claim.spec.requests.is_empty() { own } else { &claim.spec.requests };
    let mut allocatable = requests.clone();
    for (resource, quantity) in choice.instance_type.allocatable_of(choice.offering).iter() {
        allocatable.insert(resource, quantity);
    }
    let mut annotations = claim.spec.annotations.clone();
    annotations.insert(kwok::FAKE_NODE.to_owned(), kwok::FAKE_NODE_VALUE.to_owned());
    Node {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            labels: Some(labels(claim, choice)),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec {
            provider_id: Some(format!("{PROVIDER_PREFIX}{name}")),
            taints: Some(vec![Taint {
                key: UNREGISTERED_KEY.to_owned(),
                effect: "NoExecute".to_owned(),
                ..Taint::default()
            }]),
            ..NodeSpec::default()
        }),
        status: Some(NodeStatus {
            capacity: Some(api_resources(requests)),
            allocatable: Some(api_resources(&allocatable)),
            phase: Some("Pending".to_owned()),
            ..NodeStatus::default()
        }),
    }
}

fn labels(claim: &Claim, choice: &LaunchOffering<'_>) -> BTreeMap<String, String> {
    let mut labels = claim.spec.labels.clone();
    let settled =
        |entry: &&RequirementEntry| entry.operator == Operator::In && entry.values.len() == 1;
    let own = claim.spec.node.requirements.iter();
    let sold = choice.instance_type.requirements.iter().chain(&*choice.offering.requirements);
    for entry in own.chain(sold).filter(settled) {
        labels.insert(entry.key.clone(), entry.values[0].clone());
    }
    let fixed = [
        (kwok::FAKE_NODE, kwok::FAKE_NODE_VALUE.to_owned()),
        (kwok::PARTITION, PARTITION_VALUE.to_owned()),
        (HOSTNAME, claim.meta.name.to_string()),
        (kwok::INSTANCE_PRICE, dollars(choice.offering.price)),
    ];
    labels.extend(fixed.map(|(key, value)| (key.to_owned(), value)));
    labels
}

/// Whether a node is an instance of this cloud.
pub(crate) fn is_ours(node: &Node) -> bool {
    provider_id(node).is_some_and(|id| id.starts_with(PROVIDER_PREFIX))
}

/// The instance a node stands for.
pub(crate) fn instance(node: &Node) -> Instance {
    let metadata = node.meta();
    let labels = metadata.labels.clone().unwrap_or_default();
    let status = node.status.as_ref();
    Instance {
        provider_id: Arc::from(provider_id(node).unwrap_or_default()),
        claim: labels.get(HOSTNAME).map(|claim| Arc::from(claim.as_str())),
        image_id: None,
        annotations: metadata.annotations.clone().unwrap_or_default(),
        capacity: resources(status.and_then(|status| status.capacity.as_ref())),
        allocatable: resources(status.and_then(|status| status.allocatable.as_ref())),
        made_of: BTreeMap::new(),
        is_ending: metadata.deletion_timestamp.is_some(),
        labels,
    }
}

fn provider_id(node: &Node) -> Option<&str> {
    node.spec.as_ref()?.provider_id.as_deref()
}

fn resources(list: Option<&BTreeMap<String, ApiQuantity>>) -> ResourceList {
    let mut resources = ResourceList::new();
    for (name, ApiQuantity(text)) in list.into_iter().flatten() {
        if let Ok(quantity) = Quantity::parse(text) {
            resources.insert(name.as_str(), quantity);
        }
    }
    resources
}

fn api_resources(list: &ResourceList) -> BTreeMap<String, ApiQuantity> {
    let write =
        |(name, quantity): (&str, Quantity)| (name.to_owned(), ApiQuantity(quantity.to_string()));
    list.iter().map(write).collect()
}

/// A price as fleet viewers read it: dollars an hour with six digits.
fn dollars(price: Price) -> String {
    const MICROS: u64 = 1_000_000;
    let micros = price.micros_per_hour();
    format!("{}.{:06}", micros / MICROS, micros % MICROS)
}
