//! Nodes and the claims they come from.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1::CSINode;
use kerf_api::Problem;
use kerf_api::convert::node_claim_to_model;
use kerf_api::node_claim::NodeClaim;
use kerf_model::claim::NodeClaim as ModelClaim;
use kerf_model::labels::well_known::{INITIALIZED, INSTANCE_TYPE, NODE_POOL, REGISTERED};
use kerf_model::node::{BoundPod, Node};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::Operator;
use kerf_model::resources::{NODES, ResourceList};
use kerf_model::taint::{Taint, TaintEffect, is_known_ephemeral};

use crate::reader::{CoreFields as _, Reader};

/// Set by Kubernetes on a node that is closed to new pods.
const UNSCHEDULABLE_KEY: &str = "node.kubernetes.io/unschedulable";

/// Everything about a node that exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeObjects<'a> {
    /// Its claim, if Kerf manages it.
    pub claim: Option<&'a NodeClaim>,
    /// What its volume drivers report.
    pub csi: Option<&'a CSINode>,
}

/// Reads a node with what runs on it.
///
/// Until a managed node is registered its claim's labels and taints count, and until it is
/// initialized its claim fills in the resources it does not report yet; taints that pass by
/// themselves are left out until then.
///
/// # Errors
/// Every field that cannot be understood.
pub fn node_from_api(
    node: &core::Node,
    objects: NodeObjects<'_>,
    pods: Vec<BoundPod>,
) -> Result<Node, Vec<Problem>> {
    let name = node.metadata.name.clone().unwrap_or_default();
    let own_labels = node.metadata.labels.clone().unwrap_or_default();
    let claim = objects.claim.map(Claim::read).transpose()?;
    let is = |label: &str| own_labels.get(label).is_some_and(|value| value == "true");
    let managed = claim.is_some() || own_labels.contains_key(NODE_POOL);
    let (registered, initialized) = (is(REGISTERED), is(INITIALIZED));

    let mut reader = Reader::default();
    let spec = node.spec.clone().unwrap_or_default();
    let status = node.status.clone().unwrap_or_default();
    let taints = reader.taints("spec.taints", spec.taints.as_ref());
    let capacity = reader.amounts("status.capacity", status.capacity.as_ref());
    let allocatable = reader.amounts("status.allocatable", status.allocatable.as_ref());
    let read = || Some((taints?, capacity?, allocatable?));
    let value = read();
    let (mut taints, mut capacity, mut allocatable) = reader.finish(value)?;

    let mut labels = own_labels;
    if let Some(claim) = claim.as_ref().filter(|_| !registered) {
        labels = claim.labels();
        taints = claim.model.node.taints.clone();
    }
    if spec.unschedulable == Some(true) && !taints.iter().any(|t| t.key == UNSCHEDULABLE_KEY) {
        taints.push(Taint::new(UNSCHEDULABLE_KEY, "", TaintEffect::NoSchedule));
    }
    if managed && !initialized {
        let startup = claim.as_ref().map_or(&[][..], |claim| &claim.model.node.startup_taints);
        taints.retain(|taint| !is_known_ephemeral(taint) && !startup.contains(taint));
    }
    if let Some(claim) = claim.as_ref().filter(|_| !initialized) {
        fill_in(&mut capacity, &claim.capacity);
        fill_in(&mut allocatable, &claim.allocatable);
    }
    Ok(Node {
        name,
        pool: labels.get(NODE_POOL).cloned(),
        labels,
        taints,
        initialized: initialized || !managed,
        capacity: one_node(capacity),
        allocatable,
        pods,
        volume_limits: objects.csi.map(volume_limits).unwrap_or_default(),
    })
}

/// Reads a claim whose node has not appeared yet; `None` until it is launched, because until then
/// nobody knows what it will be.
///
/// # Errors
/// Every field that cannot be understood.
pub fn node_from_claim(claim: &NodeClaim) -> Result<Option<Node>, Vec<Problem>> {
    let launched = claim.status.as_ref().is_some_and(|status| status.provider_id.is_some());
    if !launched {
        return Ok(None);
    }
    let claim = Claim::read(claim)?;
    let labels = claim.labels();
    Ok(Some(Node {
        name: claim.model.name.clone(),
        pool: labels.get(NODE_POOL).cloned(),
        labels,
        taints: claim.model.node.taints.clone(),
        initialized: false,
        capacity: one_node(claim.capacity),
        allocatable: claim.allocatable,
        pods: Vec::new(),
        volume_limits: BTreeMap::new(),
    }))
}

/// Whether a node can be counted on: a managed one needs the instance's id, and its kind until it
/// has come up.
#[must_use]
pub fn is_tracked(node: &core::Node, claim: Option<&NodeClaim>) -> bool {
    let label = |key: &str| node.metadata.labels.as_ref().and_then(|labels| labels.get(key));
    let managed = claim.is_some() || label(NODE_POOL).is_some();
    let provider_id = node.spec.as_ref().and_then(|spec| spec.provider_id.as_deref());
    let claim_type = claim.and_then(|claim| claim.metadata.labels.as_ref()?.get(INSTANCE_TYPE));
    !managed
        || provider_id.is_some_and(|id| !id.is_empty())
            && (label(INITIALIZED).is_some_and(|value| value == "true")
                || label(INSTANCE_TYPE).or(claim_type).is_some())
}

/// A claim and what was observed of its instance.
struct Claim {
    model: ModelClaim,
    capacity: ResourceList,
    allocatable: ResourceList,
}

impl Claim {
    fn read(claim: &NodeClaim) -> Result<Self, Vec<Problem>> {
        let model = node_claim_to_model(claim)?;
        let status = claim.status.clone().unwrap_or_default();
        let mut reader = Reader::default();
        let mut amounts = |field: &str, list: Option<kerf_api::ResourceList>| {
            let amount = |(name, quantity): (String, kerf_api::Quantity)| {
                let quantity: Quantity =
                    reader.parse(&format!("{field}.{name}"), &quantity.text())?;
                Some((name, quantity))
            };
            crate::reader::all(list.into_iter().flatten().map(amount))
        };
        let capacity = amounts("status.capacity", status.capacity);
        let allocatable = amounts("status.allocatable", status.allocatable);
        let value = capacity.zip(allocatable);
        let (capacity, allocatable) = reader.finish(value)?;
        Ok(Self { model, capacity, allocatable })
    }

    /// The labels its node will carry: its own and what its requirements leave no choice about.
    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = self.model.labels.clone();
        for entry in &self.model.node.requirements {
            if let (Operator::In, [value]) = (entry.operator, entry.values.as_slice()) {
                labels.entry(entry.key.clone()).or_insert_with(|| value.clone());
            }
        }
        labels
    }
}

/// Takes over what is not reported yet, which is also what is reported as none.
fn fill_in(reported: &mut ResourceList, expected: &ResourceList) {
    for (name, quantity) in expected.iter() {
        if reported.quantity(name).is_zero() {
            reported.insert(name, quantity);
        }
    }
}

/// Capacity with the one node it is, so that it counts against `limits.nodes`.
fn one_node(mut capacity: ResourceList) -> ResourceList {
    capacity.insert(NODES, Quantity::from_int(1));
    capacity
}

pub(crate) fn volume_limits(csi: &CSINode) -> BTreeMap<String, u32> {
    let limit = |driver: &k8s_openapi::api::storage::v1::CSINodeDriver| {
        let count = driver.allocatable.as_ref()?.count?;
        Some((driver.name.clone(), u32::try_from(count).ok()?))
    };
    csi.spec.drivers.iter().filter_map(limit).collect()
}
