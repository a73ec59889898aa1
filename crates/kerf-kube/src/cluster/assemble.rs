//! From objects to the problem the scheduler solves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1 as core;
use kerf_api::Problem as FieldProblem;
use kerf_api::node_claim::NodeClaim;
use kerf_model::labels::LabelRules;
use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::node::Node;
use kerf_model::pod::{Pod, PodShape};
use kerf_model::pool::Sizing;
use kerf_model::requirement::Operator;
use kerf_scheduler::{PlacementProblem, PoolWithTypes, SchedulerSettings};

use super::pods::{self, Pods};
use super::{Cluster, Sourced, SourcedProblem};
use crate::node::{NodeObjects, is_tracked, node_from_api, node_from_claim};
use crate::pod::{Origin, namespace_of, pod_from_api, shape_from_template};
use crate::provisionable::has_ended;
use crate::workload::controller_of;

/// The label every namespace carries: its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A cluster as a problem, and what is not part of it.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// What the scheduler is asked.
    pub problem: PlacementProblem,
    /// Pods that are not placed whatever the scheduler says.
    pub set_aside: Vec<SetAside>,
    /// Pods that need no place here, counted by the reason.
    pub passed_over: BTreeMap<&'static str, usize>,
}

/// A pod that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The pod.
    pub pod: Pod,
    /// Why not, in words.
    pub reason: String,
}

impl Cluster {
    /// The problem this cluster poses with these pools.
    ///
    /// # Errors
    /// Every field of every object that cannot be understood.
    pub fn assemble(
        &self,
        mut pools: Vec<PoolWithTypes>,
        settings: SchedulerSettings,
    ) -> Result<Assembly, Vec<SourcedProblem>> {
        let names = NodeNames::of(self);
        let Pods { mut bound, pending, mut set_aside, passed_over, mut problems, .. } =
            pods::read(self, &names.staying, &names.leaving);
        let nodes = self.read_nodes(&names, &mut bound, &mut problems);
        let daemons = self.read_daemons(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let pods = placeable(pending, &settings.label_rules, &mut set_aside);
        pools.retain(|pool| pool.pool.sizing == Sizing::Dynamic);
        // The order is part of the public behaviour: heavier first, then by name from the end.
        pools.sort_by(|left, right| {
            let key = |pool: &PoolWithTypes| (pool.pool.weight, pool.pool.name.clone());
            key(right).cmp(&key(left))
        });
        let namespaces = self.namespace_labels(&pods, &nodes);
        let nodes = nodes.into_iter().map(Arc::new).collect();
        let namespaces = Arc::new(namespaces);
        let problem = PlacementProblem { pods, daemons, nodes, pools, namespaces, settings };
        Ok(Assembly { problem, set_aside, passed_over })
    }

    fn read_nodes(
        &self,
        names: &NodeNames<'_>,
        bound: &mut BTreeMap<String, Vec<kerf_model::node::BoundPod>>,
        problems: &mut Vec<SourcedProblem>,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut keep = |source: usize, read: Result<Option<Node>, Vec<FieldProblem>>| match read {
            Ok(node) => nodes.extend(node),
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| SourcedProblem { source, problem }))
            }
        };
        for node in &self.nodes {
            let name = node.object.metadata.name.as_deref().unwrap_or_default();
            if names.staying.contains(name) {
                let claim = self.claim_of(&node.object);
                let objects = NodeObjects { claim, csi: self.csi_nodes.get(name) };
                let pods = bound.remove(name).unwrap_or_default();
                keep(node.source, node_from_api(&node.object, objects, pods).map(Some));
            }
        }
        for claim in &self.node_claims {
            let gone = claim.object.metadata.deletion_timestamp.is_some();
            if !gone && !self.nodes.iter().any(|node| is_of(&claim.object, &node.object)) {
                keep(claim.source, node_from_claim(&claim.object));
            }
        }
        nodes
    }

    fn claim_of(&self, node: &core::Node) -> Option<&NodeClaim> {
        self.node_claims.iter().map(|claim| &claim.object).find(|claim| is_of(claim, node))
    }

    /// One shape for each daemon set. Those that ask for devices through claims are not counted:
    /// such claims are not served.
    fn read_daemons(&self, problems: &mut Vec<SourcedProblem>) -> Vec<Arc<PodShape>> {
        let mut shapes = Vec::new();
        for Sourced { source, object } in &self.daemon_sets {
            match self.daemon_shape(object) {
                Ok(shape) if shape.has_resource_claims => {}
                Ok(shape) => shapes.push(Arc::new(shape)),
                Err(found) => problems.extend(
                    found.into_iter().map(|problem| SourcedProblem { source: *source, problem }),
                ),
            }
        }
        shapes
    }

    /// What a daemon set's pods look like: as its newest pod does, which admission may have
    /// changed, or as its template says. A pod's own required affinity names its node, so that of
    /// the template counts.
    fn daemon_shape(&self, set: &DaemonSet) -> Result<PodShape, Vec<FieldProblem>> {
        let template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
        let namespace = namespace_of(&set.metadata);
        let foreseen = shape_from_template(&template, &namespace, Vec::new())?;
        let is_own = |pod: &&core::Pod| {
            let owner = controller_of(&pod.metadata);
            owner.is_some_and(|it| it.kind == "DaemonSet" && Some(it.name) == set.metadata.name)
                && namespace_of(&pod.metadata) == namespace
                && !has_ended(pod)
        };
        let pods = self.pods.iter().map(|pod| &pod.object).filter(is_own);
        let newest = pods.max_by_key(|pod| pod.metadata.creation_timestamp.clone());
        // A pod that cannot be read is reported where pods are read.
        let Some(Ok(pod)) = newest.map(|pod| pod_from_api(pod, Vec::new(), Origin::Manifest))
        else {
            return Ok(foreseen);
        };
        let mut shape = Arc::unwrap_or_clone(pod.shape);
        let affinity = &mut shape.placement.node_affinity;
        affinity.required = foreseen.placement.node_affinity.required;
        affinity.required_by_field = foreseen.placement.node_affinity.required_by_field;
        Ok(shape)
    }

    /// The labels of the namespaces given and of those that pods lie in.
    fn namespace_labels(
        &self,
        pods: &[Pod],
        nodes: &[Node],
    ) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut namespaces = self.namespaces.clone();
        let bound = nodes.iter().flat_map(|node| &node.pods).map(|bound| &bound.pod);
        for pod in pods.iter().chain(bound) {
            if !namespaces.contains_key(&pod.shape.namespace) {
                namespaces.insert(pod.shape.namespace.clone(), BTreeMap::new());
            }
        }
        for (name, labels) in &mut namespaces {
            labels.entry(NAMESPACE_NAME.to_owned()).or_insert_with(|| name.clone());
        }
        namespaces
    }
}

/// The names of nodes that stay and of those that go away.
struct NodeNames<'a> {
    staying: BTreeSet<&'a str>,
    leaving: BTreeSet<&'a str>,
}

impl<'a> NodeNames<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let mut names = Self { staying: BTreeSet::new(), leaving: BTreeSet::new() };
        for node in cluster.nodes.iter().map(|node| &node.object) {
            let name = node.metadata.name.as_deref().unwrap_or_default();
            let claim = cluster.claim_of(node);
            let gone = claim.is_some_and(|claim| claim.metadata.deletion_timestamp.is_some());
            if gone || node.metadata.deletion_timestamp.is_some() {
                names.leaving.insert(name);
            } else if is_tracked(node, claim) {
                names.staying.insert(name);
            }
        }
        names
    }
}

fn is_of(claim: &NodeClaim, node: &core::Node) -> bool {
    let Some(status) = &claim.status else { return false };
    let same = |left: Option<&String>, right: Option<&String>| left.is_some() && left == right;
    let provider_id = node.spec.as_ref().and_then(|spec| spec.provider_id.as_ref());
    same(status.node_name.as_ref(), node.metadata.name.as_ref())
        || same(status.provider_id.as_ref(), provider_id)
}

/// The pods that may be given a place; the others are set aside with their reasons.
fn placeable(pods: Vec<Pod>, rules: &LabelRules, set_aside: &mut Vec<SetAside>) -> Vec<Pod> {
    let mut last: Option<(Arc<PodShape>, Option<String>)> = None;
    let mut placeable = Vec::with_capacity(pods.len());
    for pod in pods {
        // Replicas stand beside each other and share a shape, which is then judged once.
        let known = last.take().filter(|(shape, _)| Arc::ptr_eq(shape, &pod.shape));
        let (shape, reason) = known.unwrap_or_else(|| {
            let reason = objection(&pod.shape, rules);
            (pod.shape.clone(), reason)
        });
        match &reason {
            None => placeable.push(pod),
            Some(reason) => set_aside.push(SetAside { pod, reason: reason.clone() }),
        }
        last = Some((shape, reason));
    }
    placeable
}

/// Why a pod of this shape cannot be given a node, whatever nodes there are.
fn objection(shape: &PodShape, rules: &LabelRules) -> Option<String> {
    let terms = &shape.placement.node_affinity.required;
    let shuns = |term: &Vec<_>| {
        term.iter().any(|entry: &kerf_model::requirement::RequirementEntry| {
            entry.key == NODE_POOL && entry.operator == Operator::DoesNotExist
        })
    };
    // Alternatives are tried one by one; only where all shun pools no pool can serve.
    if !terms.is_empty() && terms.iter().all(shuns) {
        let reason = format!("it asks for a node outside any pool ({NODE_POOL} DoesNotExist)");
        return Some(reason);
    }
    shape.placement.check(rules).first().map(ToString::to_string)
}
