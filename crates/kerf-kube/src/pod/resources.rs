//! What a pod takes on a node.

use k8s_openapi::api::core::v1 as core;
use kerf_model::pod_requests::{
    ContainerResources, InitContainerResources, InitKind, ObservedResources, PodLevelResources,
    PodResources, Resize, effective_requests, with_pod_slot,
};
use kerf_model::resources::ResourceList;

use super::Origin;
use crate::reader::{CoreFields as _, Reader, all};

/// The effective requests and one pod slot.
pub(super) fn requests(
    reader: &mut Reader,
    path: &str,
    spec: &core::PodSpec,
    status: Option<&core::PodStatus>,
    origin: Origin,
) -> Option<ResourceList> {
    let mut pod = pod_resources(reader, path, spec, status)?;
    if origin == Origin::Manifest {
        pod.copy_limits_into_missing_requests();
        request_pod_level_limits(&mut pod);
    }
    Some(with_pod_slot(effective_requests(&pod)))
}

/// The resource side of a pod, in the model's words.
fn pod_resources(
    reader: &mut Reader,
    path: &str,
    spec: &core::PodSpec,
    status: Option<&core::PodStatus>,
) -> Option<PodResources> {
    let containers = spec.containers.iter().enumerate().map(|(index, each)| {
        container(reader, &format!("{path}.containers[{index}]"), each, status)
    });
    let containers = all(containers);
    let inits = spec.init_containers.iter().flatten().enumerate().map(|(index, each)| {
        let path = format!("{path}.initContainers[{index}]");
        let container = container(reader, &path, each, status)?;
        Some(InitContainerResources { container, kind: init_kind(each) })
    });
    let init_containers = all(inits);
    let pod_level = match &spec.resources {
        None => Some(None),
        Some(whole) => pod_level(reader, &format!("{path}.resources"), whole).map(Some),
    };
    let overhead = reader.amounts(&format!("{path}.overhead"), spec.overhead.as_ref());
    Some(PodResources {
        containers: containers?,
        init_containers: init_containers?,
        pod_level: pod_level?,
        overhead: overhead?,
        resize: resize(status),
    })
}

fn container(
    reader: &mut Reader,
    path: &str,
    container: &core::Container,
    status: Option<&core::PodStatus>,
) -> Option<ContainerResources> {
    let asked = container.resources.as_ref();
    let requests = asked.and_then(|asked| asked.requests.as_ref());
    let limits = asked.and_then(|asked| asked.limits.as_ref());
    let requests = reader.amounts(&format!("{path}.resources.requests"), requests);
    let limits = reader.amounts(&format!("{path}.resources.limits"), limits);
    let observed = match status.and_then(|status| reported(status, &container.name)) {
        None => Some(None),
        Some((allocated, in_force)) => observed(reader, &container.name, allocated, in_force),
    };
    Some(ContainerResources { requests: requests?, limits: limits?, observed: observed? })
}

fn init_kind(container: &core::Container) -> InitKind {
    match container.restart_policy.as_deref() {
        Some("Always") => InitKind::Sidecar,
        _ => InitKind::RunsToCompletion,
    }
}

fn pod_level(
    reader: &mut Reader,
    path: &str,
    whole: &core::ResourceRequirements,
) -> Option<PodLevelResources> {
    let requests = reader.amounts(&format!("{path}.requests"), whole.requests.as_ref());
    let limits = reader.amounts(&format!("{path}.limits"), whole.limits.as_ref());
    Some(PodLevelResources { requests: requests?, limits: limits? })
}

type Amounts =
    std::collections::BTreeMap<String, k8s_openapi::apimachinery::pkg::api::resource::Quantity>;

/// What the node reports of the container of that name, whichever list it stands in.
fn reported<'a>(
    status: &'a core::PodStatus,
    name: &str,
) -> Option<(Option<&'a Amounts>, &'a core::ResourceRequirements)> {
    let lists = [&status.init_container_statuses, &status.container_statuses];
    let mut statuses = lists.into_iter().flatten().flatten();
    let status = statuses.find(|status| status.name == name)?;
    Some((status.allocated_resources.as_ref(), status.resources.as_ref()?))
}

fn observed(
    reader: &mut Reader,
    name: &str,
    allocated: Option<&Amounts>,
    in_force: &core::ResourceRequirements,
) -> Option<Option<ObservedResources>> {
    let path = format!("status.containerStatuses[{name}]");
    let allocated = reader.amounts(&format!("{path}.allocatedResources"), allocated);
    let requests =
        reader.amounts(&format!("{path}.resources.requests"), in_force.requests.as_ref());
    Some(Some(ObservedResources { allocated: allocated?, requests: requests? }))
}

fn resize(status: Option<&core::PodStatus>) -> Resize {
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let pending = conditions.into_iter().find(|condition| condition.type_ == "PodResizePending");
    match pending.and_then(|condition| condition.reason.as_deref()) {
        Some("Infeasible") => Resize::Infeasible,
        _ => Resize::Possible,
    }
}

/// Requests what the pod as a whole may take where neither it nor a container says what it needs,
/// as the API server does.
fn request_pod_level_limits(pod: &mut PodResources) {
    let Some(whole) = pod.pod_level.take() else { return };
    let by_container =
        effective_requests(&PodResources { overhead: ResourceList::new(), ..pod.clone() });
    let unsaid = whole.limits.iter().filter(|(name, _)| by_container.get(name).is_none()).collect();
    let mut whole = whole.clone();
    whole.requests.fill_missing(&unsaid);
    pod.pod_level = Some(whole);
}
