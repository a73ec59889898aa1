//! Pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use kerf_api::FieldError;
use kerf_engine::observed::{DoNotDisrupt, Pod, PodKey, PodOwner, PodPhase, PodProfile, PodTimes};
use kerf_engine::time::{Span, Time};
use kerf_model::duration::GoDuration;
use kerf_model::labels::LabelRules;
use kerf_model::labels::annotation::{DISRUPTION_COST, DO_NOT_DISRUPT, POD_DELETION_COST};
use kerf_model::pod::PodShape;
use kerf_model::quantity::Quantity;
use kerf_model::requirements::NodeAffinity;
use kerf_model::resources::ResourceList;

use super::interner::Interner;
use super::meta::{meta, name_of, time};
use super::pods_by_owner::PodsByOwner;
use crate::pod::{Origin, namespace_of, pod_from_api};
use crate::provisionable::{NotProvisionable, has_ended, is_of_daemon_set, node_of, provisionable};
use crate::storage::Storage;
use crate::workload::controller_of;

/// Priority classes of pods the system cannot do without.
const CRITICAL: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// What pods are read with.
pub(super) struct Reading<'a> {
    pub(super) storage: &'a Storage,
    pub(super) pods_by_owner: &'a PodsByOwner,
    pub(super) rules: &'a LabelRules,
    pub(super) origin: Origin,
}

/// What pods alike share.
#[derive(Debug, Default)]
pub(super) struct Interners {
    shapes: Interner<PodShape>,
    profiles: Interner<PodProfile>,
}

/// Namespace and name.
pub(crate) fn key(pod: &core::Pod) -> PodKey {
    PodKey { namespace: Arc::from(namespace_of(&pod.metadata)), name: name_of(&pod.metadata) }
}

/// Whether what the pod is depends on storage objects.
pub(super) fn has_volumes(pod: &core::Pod) -> bool {
    volumes(pod).any(|it| it.persistent_volume_claim.is_some() || it.ephemeral.is_some())
}

fn volumes(pod: &core::Pod) -> impl Iterator<Item = &core::Volume> {
    pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten())
}

/// Reads a pod. One that cannot be understood is there all the same, with the reason; what could
/// not be understood is returned beside it.
pub(super) fn read(
    pod: &core::Pod,
    reading: &Reading<'_>,
    interners: &mut Interners,
) -> (Pod, Vec<FieldError>) {
    let phase = phase(pod);
    let (shape, unusable, problems) = match shape(pod, &phase, reading) {
        Ok((shape, unusable)) => (shape, unusable, Vec::new()),
        Err(problems) => {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            (unreadable(pod), Some(texts.join("; ")), problems)
        }
    };
    let phase = match phase {
        PodPhase::Unschedulable { .. } | PodPhase::Unjudged
            if shape.placement.excludes_node_pools() =>
        {
            PodPhase::Waiting
        }
        phase => phase,
    };
    let spec = pod.spec.as_ref();
    let status = pod.status.as_ref();
    let class = spec.and_then(|spec| spec.priority_class_name.as_deref());
    let grace = spec.and_then(|spec| spec.termination_grace_period_seconds);
    let read = Pod {
        key: key(pod),
        meta: meta(&pod.metadata),
        shape: interners.shapes.share(shape, owner_uid(pod)),
        phase,
        owner: owner(pod),
        is_ready: condition(pod, "Ready").is_some_and(|it| it.status == "True"),
        started_at: status.and_then(|status| status.start_time.as_ref()).map(time),
        times: PodTimes {
            bound_at: true_since(pod, "PodScheduled"),
            ready_at: true_since(pod, "Ready"),
        },
        is_critical: class.is_some_and(|class| CRITICAL.contains(&class)),
        priority: spec.and_then(|spec| spec.priority).unwrap_or_default(),
        deletion_cost: deletion_cost(pod),
        do_not_disrupt: do_not_disrupt(annotation(pod, DO_NOT_DISRUPT)),
        termination_grace: grace
            .map(|seconds| Span::from_seconds(u64::try_from(seconds).unwrap_or_default())),
        has_local_data: volumes(pod).any(|volume| volume.empty_dir.is_some()),
        unusable: unusable.map(Arc::from),
        profile: interners.profiles.share(profile(pod), owner_uid(pod)),
    };
    (read, problems)
}

/// What losing the pod costs. One that cannot be read counts as none, also where Kubernetes' own
/// says something else.
fn deletion_cost(pod: &core::Pod) -> i32 {
    let cost = annotation(pod, DISRUPTION_COST).or_else(|| annotation(pod, POD_DELETION_COST));
    cost.and_then(|cost| cost.parse().ok()).unwrap_or_default()
}

fn phase(pod: &core::Pod) -> PodPhase {
    let node = node_of(pod).map(Arc::from);
    match node {
        node if has_ended(pod) => PodPhase::Ended { node, has_failed: has_failed(pod) },
        Some(node) => PodPhase::Bound { node },
        None => {
            let verdict = condition(pod, "PodScheduled");
            match (provisionable(pod), verdict) {
                (Ok(()), verdict) => {
                    let since = verdict.and_then(|it| it.last_transition_time.as_ref());
                    PodPhase::Unschedulable { since: since.map_or_else(Time::default, time) }
                }
                (Err(NotProvisionable::NotJudged), None) => PodPhase::Unjudged,
                (Err(_), _) => PodPhase::Waiting,
            }
        }
    }
}

/// What decides where the pod may stand, and why nobody can say where, if so.
fn shape(
    pod: &core::Pod,
    phase: &PodPhase,
    reading: &Reading<'_>,
) -> Result<(PodShape, Option<String>), Vec<FieldError>> {
    let (namespace, name) = (namespace_of(&pod.metadata), name_of(&pod.metadata));
    let none = core::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&none);
    let waits = !matches!(phase, PodPhase::Bound { .. } | PodPhase::Ended { .. });
    let (volumes, broken) = if waits {
        match reading.storage.volumes_of(&namespace, &name, spec) {
            Ok(volumes) => (volumes, None),
            Err(problem) => (Vec::new(), Some(problem.to_string())),
        }
    } else {
        (reading.storage.volumes_of_bound(&namespace, &name, spec), None)
    };
    let read = pod_from_api(pod, volumes, reading.origin)?;
    let mut shape = Arc::unwrap_or_clone(read.shape);
    if is_of_daemon_set(pod) {
        // Each names its own node; all else is the same for all of them.
        shape.placement.node_affinity = NodeAffinity::default();
    }
    reading.pods_by_owner.spread(&mut shape, pod);
    let refused = || shape.placement.check(reading.rules).first().map(ToString::to_string);
    let unusable = broken.or_else(|| waits.then(refused).flatten());
    Ok((shape, unusable))
}

/// What is certain of a pod that cannot be understood: it is one pod.
fn unreadable(pod: &core::Pod) -> PodShape {
    PodShape {
        namespace: namespace_of(&pod.metadata),
        labels: pod.metadata.labels.clone().unwrap_or_default(),
        requests: [("pods", Quantity::from_int(1))].into_iter().collect(),
        ..PodShape::default()
    }
}

/// The path of its first owner, and the most its containers may take together. What cannot be
/// read as an amount is no limit.
fn profile(pod: &core::Pod) -> PodProfile {
    let namespace = namespace_of(&pod.metadata);
    let owner = pod.metadata.owner_references.iter().flatten().next().map(|owner| {
        let kind = owner.kind.to_lowercase();
        format!("/apis/{}/namespaces/{namespace}/{kind}s/{}", owner.api_version, owner.name)
    });
    let none = core::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&none);
    let mut limits = ResourceList::new();
    for container in &spec.containers {
        limits.add(&limits_of(container));
    }
    for container in spec.init_containers.iter().flatten() {
        match container.restart_policy.as_deref() {
            Some("Always") => limits.add(&limits_of(container)),
            _ => limits.raise_to(&limits_of(container)),
        }
    }
    PodProfile { owner: owner.unwrap_or_default(), limits }
}

fn limits_of(container: &core::Container) -> ResourceList {
    let limits = container.resources.iter().flat_map(|own| own.limits.iter().flatten());
    let read = |(name, text): (&String, &ApiQuantity)| {
        Some((name.clone(), Quantity::parse(&text.0).ok()?))
    };
    limits.filter_map(read).collect()
}

/// What makes pods alike: the identity of what controls them, else their own.
fn owner_uid(pod: &core::Pod) -> &str {
    let owners = pod.metadata.owner_references.iter().flatten();
    let controller = owners.into_iter().find(|owner| owner.controller == Some(true));
    let own = pod.metadata.uid.as_deref().unwrap_or_default();
    controller.map_or(own, |owner| owner.uid.as_str())
}

fn owner(pod: &core::Pod) -> PodOwner {
    let owners = pod.metadata.owner_references.iter().flatten();
    if is_of_daemon_set(pod) {
        PodOwner::DaemonSet
    } else if owners.into_iter().any(|owner| owner.kind == "Node") {
        PodOwner::Node
    } else if controller_of(&pod.metadata).is_some_and(|owner| owner.kind == "StatefulSet") {
        PodOwner::StatefulSet
    } else {
        PodOwner::Other
    }
}

fn do_not_disrupt(text: Option<&str>) -> DoNotDisrupt {
    match text {
        None => DoNotDisrupt::Absent,
        Some("true") => DoNotDisrupt::Always,
        Some(text) => match text.parse::<GoDuration>() {
            Ok(duration) if duration.nanos() > 0 => DoNotDisrupt::For(duration.into()),
            _ => DoNotDisrupt::Unreadable,
        },
    }
}

fn annotation<'a>(pod: &'a core::Pod, key: &str) -> Option<&'a str> {
    pod.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn has_failed(pod: &core::Pod) -> bool {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Failed")
}

/// Since when a condition holds, if it does.
fn true_since(pod: &core::Pod, kind: &str) -> Option<Time> {
    let holds = condition(pod, kind).filter(|condition| condition.status == "True")?;
    holds.last_transition_time.as_ref().map(time)
}

fn condition<'a>(pod: &'a core::Pod, kind: &str) -> Option<&'a core::PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == kind)
}
