//! Claims, instance types and requests as tests write them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aws_sdk_ec2::types::RequestLaunchTemplateData;
use kerf_engine::action::Launch;
use kerf_engine::observed::{Claim, ClaimStatus, Meta, Revision};
use kerf_engine::time::Time;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::{InstanceType, Offering, Reservation};
use kerf_model::labels::aws::{
    CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE,
    INSTANCE_FAMILY, INSTANCE_SIZE,
};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, RESERVED, ZONE};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

use super::answer::Launched;
use super::capacity_type::Purchase;
use super::fleet::{FleetConfig, FleetOrder, FleetRequest, Override, Template};

/// A launch for a claim with these requirements, of one CPU.
pub(super) fn launch(requirements: Vec<RequirementEntry>) -> Launch {
    let claim = Claim {
        meta: Meta {
            name: Arc::from("general-x7k2p"),
            uid: Arc::from("uid-1"),
            revision: Revision(1),
            generation: 1,
            created_at: Time::default(),
            deleting_since: None,
        },
        spec: NodeClaim {
            name: "general-x7k2p".to_owned(),
            labels: BTreeMap::from([("karpenter.sh/nodepool".to_owned(), "general".to_owned())]),
            annotations: BTreeMap::new(),
            node: NodeSpec {
                requirements,
                taints: Vec::new(),
                startup_taints: Vec::new(),
                node_class: NodeClassRef {
                    group: "karpenter.k8s.aws".to_owned(),
                    kind: "EC2NodeClass".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
            requests: [("cpu", Quantity::from_int(1))].into_iter().collect(),
        },
        finalizers: Vec::new(),
        owner_pool: None,
        status: ClaimStatus::default(),
    };
    Launch { claim, node_class: None, instance_types: None }
}

/// A requirement with one of these values.
pub(super) fn any_of(key: &str, values: &[&str]) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, values.iter().copied())
}

/// A type of four CPUs that is sold these ways.
pub(super) fn instance_type(name: &str, offerings: Vec<Offering>) -> InstanceType {
    let (family, size) = name.split_once('.').unwrap();
    InstanceType {
        name: name.to_owned(),
        requirements: [
            any_of(INSTANCE_TYPE, &[name]),
            any_of(INSTANCE_FAMILY, &[family]),
            any_of(INSTANCE_SIZE, &[size]),
        ]
        .into(),
        capacity: Arc::new(ResourceList::from_iter([
            ("cpu", Quantity::from_int(4)),
            ("pods", Quantity::from_int(29)),
        ])),
        overhead: Arc::default(),
        offerings: offerings.into(),
    }
}

/// The same type with some of a device.
pub(super) fn with_device(mut instance_type: InstanceType, resource: &str) -> InstanceType {
    Arc::make_mut(&mut instance_type.capacity).insert(resource, Quantity::from_int(1));
    instance_type
}

/// An offering, from `spot us-east-1a 30`: capacity type, zone, price in micro-dollars.
pub(super) fn offering(text: &str) -> Offering {
    let [capacity_type, zone, price] = parts(text);
    Offering {
        requirements: [any_of(CAPACITY_TYPE, &[capacity_type]), any_of(ZONE, &[zone])].into(),
        price: Price::from_micros_per_hour(price.parse().unwrap()),
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

/// A reserved offering, from `cr-1 default us-east-1a 3 5`: the reservation, its kind, zone, how
/// many are left, price in micro-dollars.
pub(super) fn reserved(text: &str) -> Offering {
    let [id, kind, zone, remaining, price] = parts(text);
    let is_interruptible = if kind == "interruptible" { "true" } else { "false" };
    let kind = if kind == "capacity-block" { kind } else { "default" };
    let mut offering = offering(&format!("{RESERVED} {zone} {price}"));
    let own = [
        any_of(CAPACITY_RESERVATION_ID, &[id]),
        any_of(CAPACITY_RESERVATION_TYPE, &[kind]),
        any_of(CAPACITY_RESERVATION_INTERRUPTIBLE, &[is_interruptible]),
    ];
    offering.requirements = offering.requirements.iter().cloned().chain(own).collect();
    let remaining = remaining.parse().unwrap();
    offering.reservation = Some(Reservation { id: id.to_owned(), remaining });
    offering
}

fn parts<const N: usize>(text: &str) -> [&str; N] {
    let parts: Vec<&str> = text.split(' ').collect();
    parts.try_into().unwrap()
}

/// A request for one type in two zones, by one template.
pub(super) fn request(purchase: Purchase) -> FleetRequest {
    let place = |zone: &str| Override {
        instance_type: "m5.large".to_owned(),
        zone: zone.to_owned(),
        image_id: "ami-1".to_owned(),
        price: Price::from_micros_per_hour(96_000),
    };
    FleetRequest {
        purchase,
        has_own_prices: false,
        configs: vec![FleetConfig {
            template: Arc::new(Template {
                name: "karpenter.k8s.aws/1".to_owned(),
                data: RequestLaunchTemplateData::builder().build(),
                tags: BTreeMap::new(),
                warnings: Vec::new(),
            }),
            reservation: None,
            placement: None,
            overrides: BTreeSet::from([place("a"), place("b")]),
        }],
        subnets: vec![
            ("a".to_owned(), "subnet-a".to_owned()),
            ("b".to_owned(), "subnet-b".to_owned()),
        ],
        addresses: BTreeMap::from([("a".to_owned(), 29), ("b".to_owned(), 29)]),
        zone_ids: BTreeMap::new(),
        context: None,
        tags: BTreeMap::from([("team".to_owned(), "green".to_owned())]),
    }
}

/// An order of a request for these claims, with a subnet in each zone.
pub(super) fn order(request: FleetRequest, members: &[&str]) -> FleetOrder {
    FleetOrder {
        subnets: request.subnets.iter().cloned().collect(),
        request: Arc::new(request),
        members: members.iter().map(|uid| Arc::from(*uid)).collect(),
        deductions: BTreeMap::new(),
        token: "token-1".to_owned(),
    }
}

/// An instance that was launched on demand in zone `a`.
pub(super) fn launched(id: &str) -> Launched {
    Launched {
        id: id.to_owned(),
        instance_type: "m5.large".to_owned(),
        zone: "a".to_owned(),
        subnet: "subnet-a".to_owned(),
        image_id: "ami-1".to_owned(),
        purchase: Purchase::OnDemand,
        reservation: None,
        partition: None,
    }
}
