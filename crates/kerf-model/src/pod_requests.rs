//! What a pod needs from a node, and may take of it.
//!
//! Containers run side by side and are added up. Init containers run one after the other before
//! them, so only the largest counts; those that keep running (sidecars) are added to everything
//! that starts after them. Amounts set for the pod as a whole replace the sum; overhead comes on
//! top.
//!
//! While a resize is under way the node may still owe the old amounts and already the new ones, so
//! the largest of what is asked for, granted and in force counts. A resize the node has called
//! infeasible will not happen: what is asked for is then left out.

use crate::quantity::Quantity;
use crate::resources::{CPU, HUGE_PAGES_PREFIX, MEMORY, PODS, ResourceList};

/// The resource side of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodResources {
    /// The containers that run side by side.
    pub containers: Vec<ContainerResources>,
    /// The containers that start before those, in order.
    pub init_containers: Vec<InitContainerResources>,
    /// Amounts for the pod as a whole.
    pub pod_level: Option<PodLevelResources>,
    /// What running any pod of this kind costs besides its containers.
    pub overhead: ResourceList,
    /// How the last resize asked for is going.
    pub resize: Resize,
}

/// The resource side of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerResources {
    /// What the container requests.
    pub requests: ResourceList,
    /// What the container may take.
    pub limits: ResourceList,
    /// What the node reports for the container, once it reports resources.
    pub observed: Option<ObservedResources>,
}

/// The resource side of an init container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitContainerResources {
    /// Its amounts. What the node reports counts for sidecars only.
    pub container: ContainerResources,
    /// Whether it stays.
    pub kind: InitKind,
}

/// Whether an init container stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitKind {
    /// It ends before the next one starts.
    #[default]
    RunsToCompletion,
    /// It keeps running beside everything that starts later (restart policy Always).
    Sidecar,
}

/// Amounts for a pod as a whole. Only cpu, memory and huge pages can be set this way; other names
/// are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodLevelResources {
    /// What the pod requests.
    pub requests: ResourceList,
    /// What the pod may take.
    pub limits: ResourceList,
}

/// What the node reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedResources {
    /// Requests the node has granted.
    pub allocated: ResourceList,
    /// Requests in force.
    pub requests: ResourceList,
}

/// How a resize is going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resize {
    /// None is asked for, or it is done, under way or deferred.
    #[default]
    Possible,
    /// The node can never grant what is asked for.
    Infeasible,
}

/// What a pod needs from a node, including what the node reports of a resize.
pub fn effective_requests(pod: &PodResources) -> ResourceList {
    let mut requests = add_up(
        pod.containers.iter().map(|container| container_requests(container, pod.resize)),
        pod.init_containers.iter().map(|init| match init.kind {
            InitKind::Sidecar => (init.kind, container_requests(&init.container, pod.resize)),
            InitKind::RunsToCompletion => (init.kind, init.container.requests.clone()),
        }),
    );
    if let Some(pod_level) = &pod.pod_level {
        replace_supported(&mut requests, &pod_level.requests);
    }
    requests.add(&pod.overhead);
    requests
}

/// What a pod may take of a node, as its specification has it: limits in force before a resize bind
/// nothing a scheduler decides. Overhead is added only where there is a limit to add it to.
pub fn effective_limits(pod: &PodResources) -> ResourceList {
    let mut limits = add_up(
        pod.containers.iter().map(|container| container.limits.clone()),
        pod.init_containers.iter().map(|init| (init.kind, init.container.limits.clone())),
    );
    if let Some(pod_level) = &pod.pod_level {
        replace_supported(&mut limits, &pod_level.limits);
    }
    let raised: ResourceList =
        pod.overhead.iter().filter(|(name, _)| !limits.quantity(name).is_zero()).collect();
    limits.add(&raised);
    limits
}

/// The requests with the one pod slot every pod takes.
pub fn with_pod_slot(mut requests: ResourceList) -> ResourceList {
    requests.insert(PODS, Quantity::from_int(1));
    requests
}

impl PodResources {
    /// Requests what a container may take wherever it does not say what it needs, as the API server
    /// does for pods. Needed where a pod is foreseen from its template.
    pub fn copy_limits_into_missing_requests(&mut self) {
        let inits = self.init_containers.iter_mut().map(|init| &mut init.container);
        for container in self.containers.iter_mut().chain(inits) {
            container.requests.fill_missing(&container.limits);
        }
    }

    /// The pod as its specification has it, without anything the node reports.
    #[must_use]
    pub fn without_observed(mut self) -> PodResources {
        let inits = self.init_containers.iter_mut().map(|init| &mut init.container);
        for container in self.containers.iter_mut().chain(inits) {
            container.observed = None;
        }
        self
    }
}

fn container_requests(container: &ContainerResources, resize: Resize) -> ResourceList {
    let Some(observed) = &container.observed else { return container.requests.clone() };
    let mut requests = match resize {
        Resize::Possible => container.requests.clone(),
        Resize::Infeasible => ResourceList::new(),
    };
    requests.raise_to(&observed.requests);
    requests.raise_to(&observed.allocated);
    requests
}

/// The largest amount in use at any moment of a pod's life.
fn add_up(
    containers: impl Iterator<Item = ResourceList>,
    init_containers: impl Iterator<Item = (InitKind, ResourceList)>,
) -> ResourceList {
    let mut running = ResourceList::new();
    containers.for_each(|container| running.add(&container));
    let mut sidecars = ResourceList::new();
    let mut starting = ResourceList::new();
    for (kind, mut container) in init_containers {
        match kind {
            InitKind::Sidecar => {
                running.add(&container);
                sidecars.add(&container);
                starting.raise_to(&sidecars);
            }
            InitKind::RunsToCompletion => {
                container.add(&sidecars);
                starting.raise_to(&container);
            }
        }
    }
    running.raise_to(&starting);
    running
}

fn replace_supported(amounts: &mut ResourceList, pod_level: &ResourceList) {
    for (name, quantity) in pod_level.iter().filter(|(name, _)| is_pod_level_resource(name)) {
        amounts.insert(name, quantity);
    }
}

/// Whether a resource can be set for a pod as a whole.
fn is_pod_level_resource(name: &str) -> bool {
    matches!(name, CPU | MEMORY) || name.starts_with(HUGE_PAGES_PREFIX)
}
