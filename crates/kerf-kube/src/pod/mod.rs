//! Pods: everything that decides where one may stand.

mod affinity;
mod placement;
mod resources;
mod spread;

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kerf_api::FieldError;
use kerf_model::host_port::HostPort;
use kerf_model::pod::{Pod, PodShape, PodVolume};

use crate::reader::{Reader, all};

pub(crate) use spread::spread;

/// The namespace of objects that name none.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// Where a pod was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From an API server, which has filled in what the author left out.
    Stored,
    /// From a manifest. What an API server would fill in is filled in here: requests from limits,
    /// host ports of pods on the host's network. On stored objects this changes nothing.
    Manifest,
}

/// Reads a pod. Its volumes are resolved apart, by [`Storage`](crate::Storage).
///
/// # Errors
/// Every field that cannot be understood.
pub fn pod_from_api(
    pod: &core::Pod,
    volumes: Vec<PodVolume>,
    origin: Origin,
) -> Result<Pod, Vec<FieldError>> {
    let metadata = &pod.metadata;
    let empty = core::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&empty);
    let source = Source { metadata, spec, status: pod.status.as_ref(), path: "spec", origin };
    let shape = shape(&source, namespace_of(metadata), volumes)?;
    Ok(Pod {
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
        created_at: metadata.creation_timestamp.as_ref().map_or(0, |time| time.0.as_second()),
        shape: Arc::new(shape),
    })
}

/// Reads what every pod made from a template looks like. A template is never stored as a pod, so
/// defaults are filled in.
///
/// # Errors
/// Every field that cannot be understood, by its path from the workload.
pub fn shape_from_template(
    template: &core::PodTemplateSpec,
    namespace: &str,
    volumes: Vec<PodVolume>,
) -> Result<PodShape, Vec<FieldError>> {
    let (empty_metadata, empty_spec) = (ObjectMeta::default(), core::PodSpec::default());
    let source = Source {
        metadata: template.metadata.as_ref().unwrap_or(&empty_metadata),
        spec: template.spec.as_ref().unwrap_or(&empty_spec),
        status: None,
        path: "spec.template.spec",
        origin: Origin::Manifest,
    };
    shape(&source, namespace.to_owned(), volumes)
}

/// The namespace an object lies in.
pub(crate) fn namespace_of(metadata: &ObjectMeta) -> String {
    metadata.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
}

/// The parts of a pod or of a template, and where in its object they stand.
struct Source<'a> {
    metadata: &'a ObjectMeta,
    spec: &'a core::PodSpec,
    status: Option<&'a core::PodStatus>,
    path: &'a str,
    origin: Origin,
}

fn shape(
    source: &Source<'_>,
    namespace: String,
    volumes: Vec<PodVolume>,
) -> Result<PodShape, Vec<FieldError>> {
    let Source { metadata, spec, status, path, origin } = *source;
    let labels: BTreeMap<_, _> = metadata.labels.clone().unwrap_or_default();
    let mut reader = Reader::default();
    let requests = resources::requests(&mut reader, path, spec, status, origin);
    let placement = placement::placement(&mut reader, path, spec);
    let tolerations = placement::tolerations(&mut reader, path, spec.tolerations.as_ref());
    let spreads = spread::spreads(&mut reader, path, spec.topology_spread_constraints.as_ref());
    let host_ports = host_ports(&mut reader, path, spec, origin);
    let near = spec.affinity.as_ref();
    let affinity = near.and_then(|near| near.pod_affinity.as_ref());
    let anti_affinity = near.and_then(|near| near.pod_anti_affinity.as_ref());
    let (affinity, anti_affinity) =
        (affinity::affinity(affinity, &labels), affinity::anti_affinity(anti_affinity, &labels));
    let read = || {
        Some(PodShape {
            namespace,
            labels,
            requests: requests?,
            placement: placement?,
            tolerations: tolerations?,
            spreads: spreads?,
            affinity,
            anti_affinity,
            host_ports: host_ports?,
            volumes,
            has_resource_claims: has_resource_claims(spec),
        })
    };
    let value = read();
    reader.finish(value)
}

/// Ports of regular containers; init containers are gone, or share, by the time they matter.
fn host_ports(
    reader: &mut Reader,
    path: &str,
    spec: &core::PodSpec,
    origin: Origin,
) -> Option<Vec<HostPort>> {
    let on_host = origin == Origin::Manifest && spec.host_network == Some(true);
    let containers = spec.containers.iter().enumerate();
    let ports = containers.flat_map(|(container, each)| {
        let ports = each.ports.iter().flatten().enumerate();
        ports.map(move |(index, port)| (container, index, port))
    });
    let read = ports.map(|(container, index, port)| {
        let number = match port.host_port {
            None | Some(0) if on_host => port.container_port,
            given => given.unwrap_or_default(),
        };
        let address = port.host_ip.as_deref().unwrap_or_default();
        let protocol = port.protocol.as_deref().unwrap_or_default();
        HostPort::parse(address, number, protocol)
            .map_err(|error| {
                reader.refuse(format!("{path}.containers[{container}].ports[{index}]"), error);
            })
            .ok()
    });
    let read: Vec<Option<HostPort>> = all(read)?;
    Some(read.into_iter().flatten().collect())
}

fn has_resource_claims(spec: &core::PodSpec) -> bool {
    let named = |claims: Option<usize>| claims.is_some_and(|count| count > 0);
    let of_container = |container: &core::Container| {
        let claims = container.resources.as_ref().and_then(|resources| resources.claims.as_ref());
        named(claims.map(Vec::len))
    };
    let containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    named(spec.resource_claims.as_ref().map(Vec::len)) || containers.into_iter().any(of_container)
}
