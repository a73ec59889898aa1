//! The pods of a cluster: those on nodes, and those without a place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kerf_api::Problem;
use kerf_model::node::BoundPod;
use kerf_model::pod::{Pod, PodShape};

use super::defaults::Defaults;
use super::{Cluster, FORESEEN_PODS_MAX, SetAside, Sourced, SourcedProblem};
use crate::pod::{Origin, namespace_of, pod_from_api, shape_from_template};
use crate::provisionable::{
    NotProvisionable, has_ended, is_gated, is_of_daemon_set, node_of, provisionable,
};
use crate::storage::{ForeseenClaim, VolumeProblem};
use crate::workload::{Owner, Workload, controller_of};

/// What is said of pods that the scheduler does not look at yet.
const GATED: &str = "held back by scheduling gates";

/// What was made of the pods.
#[derive(Default)]
pub(super) struct Pods {
    /// On nodes, by the node's name.
    pub(super) bound: BTreeMap<String, Vec<BoundPod>>,
    /// Without a place.
    pub(super) pending: Vec<Pod>,
    /// Without a place, and not to be given one.
    pub(super) set_aside: Vec<SetAside>,
    /// Passed over, with the reason, counted.
    pub(super) passed_over: BTreeMap<&'static str, usize>,
    pub(super) problems: Vec<SourcedProblem>,
    /// The last shape seen for each owner: replicas look alike and then share one.
    shapes: BTreeMap<(String, Owner), Arc<PodShape>>,
}

/// The objects, and what pods are given that the objects do not say.
struct Facts<'a> {
    cluster: &'a Cluster,
    defaults: Defaults<'a>,
}

/// Reads every pod and foresees those of workloads. `homes` are the nodes that pods can stay on;
/// `leaving` those that are going away.
pub(super) fn read(cluster: &Cluster, homes: &BTreeSet<&str>, leaving: &BTreeSet<&str>) -> Pods {
    let facts = Facts { cluster, defaults: Defaults::of(cluster) };
    let mut pods = Pods::default();
    for pod in &cluster.pods {
        pods.take(&facts, pod, homes, leaving);
    }
    pods.foresee_all(&facts);
    pods
}

impl Pods {
    fn take(
        &mut self,
        facts: &Facts<'_>,
        pod: &Sourced<core::Pod>,
        homes: &BTreeSet<&str>,
        leaving: &BTreeSet<&str>,
    ) {
        let object = &pod.object;
        match (provisionable(object), node_of(object)) {
            (Ok(()) | Err(NotProvisionable::NotJudged), _) => self.take_pending(facts, pod),
            (Err(_), _) if has_ended(object) => self.pass_over("that have ended"),
            (Err(_), Some(node)) if homes.contains(node) => {
                self.take_bound(facts.cluster, pod, node)
            }
            (Err(_), Some(node)) if leaving.contains(node) && moves(object) => {
                self.take_pending(facts, pod);
            }
            (Err(_), Some(node)) if leaving.contains(node) => {
                self.pass_over("that leave with their node");
            }
            (Err(_), Some(_)) => self.pass_over("on nodes that were not given"),
            (Err(NotProvisionable::OfDaemonSet), None) => self.pass_over("of DaemonSets"),
            (Err(NotProvisionable::Nominated), None) => {
                self.pass_over("about to take the place of others");
            }
            (Err(NotProvisionable::Gated), None) => self.pass_over(GATED),
            (Err(_), None) => self.pass_over("that belong to nodes"),
        }
    }

    fn take_bound(&mut self, cluster: &Cluster, pod: &Sourced<core::Pod>, node: &str) {
        let object = &pod.object;
        let (namespace, name) = (namespace_of(&object.metadata), name_of(object));
        let spec = object.spec.clone().unwrap_or_default();
        let volumes = cluster.storage.volumes_of_bound(&namespace, &name, &spec);
        match pod_from_api(object, volumes, Origin::Manifest) {
            Err(problems) => self.refuse(pod.source, problems),
            Ok(read) => {
                let read = self.shared(read, object);
                let bound = BoundPod {
                    pod: read,
                    is_daemon: is_of_daemon_set(object),
                    is_leaving: object.metadata.deletion_timestamp.is_some(),
                };
                self.bound.entry(node.to_owned()).or_default().push(bound);
            }
        }
    }

    fn take_pending(&mut self, facts: &Facts<'_>, pod: &Sourced<core::Pod>) {
        let object = &pod.object;
        let (namespace, name) = (namespace_of(&object.metadata), name_of(object));
        let spec = object.spec.clone().unwrap_or_default();
        let volumes = facts.cluster.storage.volumes_of(&namespace, &name, &spec, &[]);
        let (volumes, problem) = parted(volumes);
        match pod_from_api(object, volumes, Origin::Manifest) {
            Err(problems) => self.refuse(pod.source, problems),
            Ok(mut read) => {
                read.name = name;
                let owner = controller_of(&object.metadata);
                facts.defaults.apply(Arc::make_mut(&mut read.shape), owner.as_ref());
                let read = self.shared(read, object);
                self.place_or_set_aside(read, problem);
            }
        }
    }

    /// The same pod on the shape of its like, if it has the same.
    fn shared(&mut self, mut pod: Pod, object: &core::Pod) -> Pod {
        if let Some(owner) = controller_of(&object.metadata) {
            let known = self.shapes.entry((pod.shape.namespace.clone(), owner));
            let known = known.or_insert_with(|| pod.shape.clone());
            if *known == pod.shape {
                pod.shape = known.clone();
            }
        }
        pod
    }

    fn foresee_all(&mut self, facts: &Facts<'_>) {
        let present = Present::of(facts.cluster);
        let mut left = FORESEEN_PODS_MAX;
        for workload in &facts.cluster.workloads {
            let Sourced { source, object } = workload;
            if present.is_kept_by_another(object) {
                continue;
            }
            let missing = object.replicas - present.count(object);
            let message = match missing {
                _ if object.replicas < 0 => format!("{} is less than none", object.replicas),
                _ if missing > left => format!(
                    "{} would make more than {FORESEEN_PODS_MAX} pods in all",
                    object.replicas
                ),
                _ => {
                    left -= missing.max(0);
                    self.foresee(facts, *source, object, missing, &present);
                    continue;
                }
            };
            let problem = Problem { field: "spec.replicas".to_owned(), message };
            self.refuse(*source, vec![problem]);
        }
    }

    /// The `missing` pods of a workload that are not there yet.
    fn foresee(
        &mut self,
        facts: &Facts<'_>,
        source: usize,
        workload: &Workload,
        missing: i64,
        present: &Present<'_>,
    ) {
        let names = (0..).map(|number| workload.pod_name(number));
        let names = names.filter(|name| !present.has(&workload.namespace, name));
        let spec = workload.template.spec.clone().unwrap_or_default();
        let gated = is_gated(&spec);
        let claims = |name: &str| ForeseenClaim::of_templates(&workload.claim_templates, name);
        // Pods with claims of their own differ; all others are of one shape.
        let own_claims = !workload.claim_templates.is_empty()
            || spec.volumes.iter().flatten().any(|volume| volume.ephemeral.is_some());
        let mut last: Option<(Arc<PodShape>, Option<VolumeProblem>)> = None;
        for name in names.take(usize::try_from(missing).unwrap_or(0)) {
            let (shape, problem) = match &last {
                Some(last) if !own_claims => last.clone(),
                _ => {
                    let storage = &facts.cluster.storage;
                    let volumes =
                        storage.volumes_of(&workload.namespace, &name, &spec, &claims(&name));
                    let (volumes, problem) = parted(volumes);
                    let template = &workload.template;
                    match shape_from_template(template, &workload.namespace, volumes) {
                        Ok(mut shape) => {
                            facts.defaults.apply(&mut shape, Some(&workload.owner));
                            (Arc::new(shape), problem)
                        }
                        Err(problems) => return self.refuse(source, problems),
                    }
                }
            };
            last = Some((shape.clone(), problem.clone()));
            if gated {
                self.pass_over(GATED);
                continue;
            }
            let pod = Pod { name, uid: String::new(), created_at: 0, shape };
            self.place_or_set_aside(pod, problem);
        }
        if missing <= 0 {
            // Nobody is to be placed, but what cannot be read is still worth saying.
            let read = shape_from_template(&workload.template, &workload.namespace, Vec::new());
            if let Err(problems) = read {
                self.refuse(source, problems);
            }
        }
    }

    fn place_or_set_aside(&mut self, pod: Pod, problem: Option<VolumeProblem>) {
        match problem {
            None => self.pending.push(pod),
            Some(problem) => {
                self.set_aside.push(SetAside { pod, reason: problem.to_string() });
            }
        }
    }

    fn pass_over(&mut self, why: &'static str) {
        *self.passed_over.entry(why).or_default() += 1;
    }

    fn refuse(&mut self, source: usize, problems: Vec<Problem>) {
        self.problems
            .extend(problems.into_iter().map(|problem| SourcedProblem { source, problem }));
    }
}

/// Which pods and workloads the input already holds.
struct Present<'a> {
    workloads: BTreeSet<(&'a str, &'a Owner)>,
    names: BTreeSet<(String, String)>,
    /// Living pods by what controls them, ReplicaSets counted for their Deployments.
    counts: BTreeMap<(String, Owner), i64>,
}

impl<'a> Present<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let workloads = cluster.workloads.iter().map(|each| &each.object);
        let above: BTreeMap<(&str, &Owner), &Owner> = workloads
            .clone()
            .filter_map(|each| Some(((&*each.namespace, &each.owner), each.controller.as_ref()?)))
            .collect();
        let (mut names, mut counts) = (BTreeSet::new(), BTreeMap::new());
        for pod in &cluster.pods {
            let namespace = namespace_of(&pod.object.metadata);
            names.insert((namespace.clone(), name_of(&pod.object)));
            if has_ended(&pod.object) {
                continue;
            }
            if let Some(owner) = controller_of(&pod.object.metadata) {
                let top = above.get(&(&*namespace, &owner)).map(|top| (*top).clone());
                *counts.entry((namespace, top.unwrap_or(owner))).or_default() += 1;
            }
        }
        let workloads = workloads.map(|each| (&*each.namespace, &each.owner)).collect();
        Self { workloads, names, counts }
    }

    /// Whether what controls the workload was given too and foresees its pods.
    fn is_kept_by_another(&self, workload: &Workload) -> bool {
        let controller = workload.controller.as_ref();
        controller.is_some_and(|above| self.workloads.contains(&(&*workload.namespace, above)))
    }

    fn count(&self, workload: &Workload) -> i64 {
        let key = (workload.namespace.clone(), workload.owner.clone());
        self.counts.get(&key).copied().unwrap_or(0)
    }

    fn has(&self, namespace: &str, name: &str) -> bool {
        !self.names.is_empty() && self.names.contains(&(namespace.to_owned(), name.to_owned()))
    }
}

/// The name, or how it will begin.
pub(super) fn name_of(pod: &core::Pod) -> String {
    let metadata = &pod.metadata;
    metadata.name.clone().or_else(|| metadata.generate_name.clone()).unwrap_or_default()
}

/// Whether a pod on a node that goes away needs a place elsewhere.
fn moves(pod: &core::Pod) -> bool {
    let owners = pod.metadata.owner_references.iter().flatten();
    let mirrors = owners.into_iter().any(|owner| owner.kind == "Node");
    let of_stateful_set =
        controller_of(&pod.metadata).is_some_and(|owner| owner.kind == "StatefulSet");
    let stays_dead = pod.metadata.deletion_timestamp.is_some() && !of_stateful_set;
    !is_of_daemon_set(pod) && !mirrors && !stays_dead
}

fn parted<T: Default, E>(result: Result<T, E>) -> (T, Option<E>) {
    match result {
        Ok(value) => (value, None),
        Err(error) => (T::default(), Some(error)),
    }
}
