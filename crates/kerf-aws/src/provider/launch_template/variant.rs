//! What tells the templates of one launch apart.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{Kubelet, MaxPods};
use kerf_catalog::resource_name::EFA;
use kerf_model::instance_type::{InstanceType, Offering};

use super::TemplateRequest;
use super::image::Images;
use super::kubelet;
use super::placement::Placement;

/// What may differ between the instance types of a launch, so that they need templates of their
/// own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    /// The image.
    pub(super) image_id: String,
    /// The pods a node may hold.
    pub(super) max_pods: Option<i64>,
    /// Fabric adapters, where pods ask for any.
    pub(super) efa_interfaces: u32,
    /// What is kept for the kubelet, where the class says so.
    pub(super) kube_reserved: Option<BTreeMap<String, String>>,
    /// What is kept for the operating system, where the class says so.
    pub(super) system_reserved: Option<BTreeMap<String, String>>,
    /// The place in the placement group.
    pub(super) placement: Option<Placement>,
    /// The reservation instances are launched into.
    pub(super) reservation: Option<String>,
}

impl Variant {
    /// What a type needs; none if no image runs on it.
    pub(super) fn of(
        request: &TemplateRequest<'_>,
        images: &Images,
        instance_type: &InstanceType,
    ) -> Option<Self> {
        let image_id = images.for_type(&instance_type.requirements)?.to_owned();
        let kubelet = request.node_class.spec.kubelet.as_ref();
        let wants_fabric = request.requests.get(EFA).is_some_and(|count| !count.is_zero());
        let efa_interfaces = match wants_fabric {
            true => u32::try_from(instance_type.capacity.quantity(EFA).value()).unwrap_or(0),
            false => 0,
        };
        let overhead = &instance_type.overhead;
        let reserved = |own: fn(&Kubelet) -> Option<&BTreeMap<String, String>>, computed| {
            kubelet.and_then(own).map(|own| kubelet::reserved(own, computed))
        };
        Some(Self {
            image_id,
            max_pods: kubelet::max_pods(kubelet, instance_type),
            efa_interfaces,
            kube_reserved: reserved(|it| it.kube_reserved.as_ref(), &overhead.kube_reserved),
            system_reserved: reserved(|it| it.system_reserved.as_ref(), &overhead.system_reserved),
            placement: Placement::of(request.requirements, instance_type),
            reservation: None,
        })
    }

    /// The same, bought by an offering.
    pub(super) fn bought_by(mut self, offering: &Offering) -> Self {
        self.reservation = offering.reservation.as_ref().map(|it| it.id.clone());
        self
    }

    /// The kubelet's settings on nodes of this variant.
    pub(super) fn kubelet(&self, request: &TemplateRequest<'_>) -> Kubelet {
        let mut kubelet = request.node_class.spec.kubelet.clone().unwrap_or_default();
        kubelet.max_pods = self.max_pods.map(MaxPods::Count);
        kubelet.kube_reserved.clone_from(&self.kube_reserved);
        kubelet.system_reserved.clone_from(&self.system_reserved);
        if kubelet.cluster_dns.as_ref().is_none_or(Vec::is_empty) {
            kubelet.cluster_dns = request.cluster.dns_ip.map(|address| vec![address.to_string()]);
        }
        kubelet
    }
}
