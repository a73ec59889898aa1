//! An instance of EC2 in the engine's terms.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_sdk_ec2::types::{
    ArchitectureValues, CapacityReservationPreference, Instance as Described, InstanceStateName,
    PlatformValues,
};
use kerf_catalog::table;
use kerf_engine::event::Instance;
use kerf_engine::observed::Name;
use kerf_model::labels::aws::{
    CAPACITY_RESERVATION_ID, INSTANCE_ACCELERATOR_COUNT, INSTANCE_GPU_COUNT, NODE_CLASS,
    PLACEMENT_GROUP_ID, PLACEMENT_GROUP_PARTITION, ZONE_ID,
};
use kerf_model::labels::well_known::{
    ARCH, ARCH_AMD64, ARCH_ARM64, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ON_DEMAND, OS, OS_LINUX,
    OS_WINDOWS, RESERVED, SPOT, ZONE,
};
use kerf_model::resources::ResourceList;

use super::made_of;
use crate::provider::launch::answer::Launched;
use crate::provider::tags;

/// The id that nodes carry: `aws:///us-east-1a/i-0123`.
pub(crate) fn provider_id(zone: &str, id: &str) -> Arc<str> {
    format!("aws:///{zone}/{id}").into()
}

/// Zone and id of an instance in a provider's id, which may begin with any scheme.
pub(crate) fn parse_provider_id(provider_id: &str) -> Option<(&str, &str)> {
    let (_, rest) = provider_id.split_once(":///")?;
    let (zone, id) = rest.split_once('/')?;
    (!zone.is_empty() && id.starts_with("i-") && !id.contains('/')).then_some((zone, id))
}

/// Reads what EC2 describes. The claim is what EC2 remembers, or else the one given.
pub(crate) fn read(
    described: &Described,
    claim: Option<&Name>,
    uses_reservations: bool,
) -> Option<Instance> {
    let id = described.instance_id()?;
    let zone = described.placement().and_then(|it| it.availability_zone()).unwrap_or_default();
    let tagged = tag(described, tags::NODE_CLAIM).map(Arc::from);
    Some(Instance {
        provider_id: provider_id(zone, id),
        claim: tagged.or_else(|| claim.cloned()),
        image_id: described.image_id().map(str::to_owned),
        labels: labels(described, zone, uses_reservations),
        annotations: BTreeMap::new(),
        capacity: ResourceList::new(),
        allocatable: ResourceList::new(),
        made_of: made_of::of_described(described),
        is_ending: is_ending(described),
    })
}

/// An instance that was launched and that EC2 does not describe yet.
pub(crate) fn of_launched(launched: &Launched, claim: &Name) -> Instance {
    let labels = [
        (INSTANCE_TYPE, launched.instance_type.as_str()),
        (ZONE, &launched.zone),
        (CAPACITY_TYPE, launched.purchase.capacity_type()),
    ];
    Instance {
        provider_id: provider_id(&launched.zone, &launched.id),
        claim: Some(claim.clone()),
        image_id: Some(launched.image_id.clone()).filter(|id| !id.is_empty()),
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        annotations: BTreeMap::new(),
        capacity: ResourceList::new(),
        allocatable: ResourceList::new(),
        made_of: made_of::of_launched(launched),
        is_ending: false,
    }
}

/// How an instance was bought. One that happens to run in a reservation it was not launched for is
/// on demand.
pub(crate) fn capacity_type(described: &Described, uses_reservations: bool) -> &'static str {
    if described.spot_instance_request_id().is_some_and(|id| !id.is_empty()) {
        SPOT
    } else if uses_reservations && reservation(described).is_some() {
        RESERVED
    } else {
        ON_DEMAND
    }
}

/// The reservation an instance was launched into, if into one.
pub(crate) fn reservation(described: &Described) -> Option<&str> {
    let asked = described.capacity_reservation_specification();
    let preference = asked.and_then(|it| it.capacity_reservation_preference());
    let is_only = preference == Some(&CapacityReservationPreference::CapacityReservationsOnly);
    described.capacity_reservation_id().filter(|id| is_only && !id.is_empty())
}

/// A tag of an instance.
pub(crate) fn tag<'d>(described: &'d Described, key: &str) -> Option<&'d str> {
    described.tags().iter().find(|tag| tag.key() == Some(key))?.value()
}

/// Whether an instance is on its way out or gone.
pub(crate) fn is_ending(described: &Described) -> bool {
    let state = state(described);
    matches!(state, Some(InstanceStateName::ShuttingDown | InstanceStateName::Terminated))
}

/// The state of an instance.
pub(crate) fn state(described: &Described) -> Option<&InstanceStateName> {
    described.state().and_then(|state| state.name())
}

fn labels(described: &Described, zone: &str, uses_reservations: bool) -> BTreeMap<String, String> {
    let placement = described.placement();
    let capacity_type = capacity_type(described, uses_reservations);
    let reservation = reservation(described).filter(|_| capacity_type == RESERVED);
    let group = placement.and_then(|it| it.group_id()).filter(|id| !id.is_empty());
    let partition = placement.and_then(|it| it.partition_number()).filter(|number| *number > 0);
    let partition = partition.map(|number| number.to_string());
    let own = [
        (INSTANCE_TYPE, described.instance_type().map(|it| it.as_str())),
        (ZONE, Some(zone)),
        (ZONE_ID, placement.and_then(|it| it.availability_zone_id())),
        (CAPACITY_TYPE, Some(capacity_type)),
        (NODE_POOL, tag(described, NODE_POOL)),
        (NODE_CLASS, tag(described, NODE_CLASS)),
        (PLACEMENT_GROUP_ID, group),
        (PLACEMENT_GROUP_PARTITION, partition.as_deref()),
        (CAPACITY_RESERVATION_ID, reservation),
    ];
    let own = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    own.chain(image_labels(described)).collect()
}

/// The labels that decide which image an instance gets. Of a type that is not in the tables nobody
/// knows whether it has accelerators, so that nothing is said about its image at all.
fn image_labels(described: &Described) -> Vec<(String, String)> {
    let instance_type = described.instance_type().map(|it| it.as_str()).unwrap_or_default();
    let Some(shape) = table::shape(instance_type) else { return Vec::new() };
    let architecture = match described.architecture() {
        Some(ArchitectureValues::Arm64) => ARCH_ARM64,
        Some(ArchitectureValues::X8664) => ARCH_AMD64,
        _ => shape.architecture.label(),
    };
    let is_windows = described.platform() == Some(&PlatformValues::Windows);
    // Labels have room for one kind of device; with several kinds none is named.
    let gpus = if let [gpu] = shape.gpus.as_slice() { Some(gpu.count) } else { None };
    let accelerators = match (shape.neurons.as_slice(), shape.accelerators.as_slice()) {
        ([neuron], _) => Some(neuron.count),
        ([], [accelerator]) => Some(accelerator.count),
        _ => None,
    };
    let os = if is_windows { OS_WINDOWS } else { OS_LINUX };
    let devices = [(INSTANCE_GPU_COUNT, gpus), (INSTANCE_ACCELERATOR_COUNT, accelerators)];
    let devices = devices.into_iter().filter_map(|(key, count)| Some((key, count?.to_string())));
    let fixed = [(ARCH, architecture.to_owned()), (OS, os.to_owned())];
    fixed.into_iter().chain(devices).map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{
        CapacityReservationSpecificationResponse, InstanceState, InstanceType, Placement, Tag,
    };

    use super::*;

    fn described() -> aws_sdk_ec2::types::builders::InstanceBuilder {
        let placement = Placement::builder().availability_zone("us-east-1b").build();
        Described::builder()
            .instance_id("i-1")
            .placement(placement)
            .instance_type(InstanceType::from("g4dn.xlarge"))
    }

    fn label(instance: &Instance, key: &str) -> String {
        instance.labels.get(key).cloned().unwrap_or_default()
    }

    #[test]
    fn ids_of_providers_are_written_and_read() {
        assert_eq!(&*provider_id("us-east-1a", "i-1"), "aws:///us-east-1a/i-1");
        for (text, expected) in [
            ("aws:///us-east-1a/i-0a1", Some(("us-east-1a", "i-0a1"))),
            ("other:///zone/i-0a1", Some(("zone", "i-0a1"))),
            ("aws:///i-0a1", None),
            ("aws:////i-0a1", None),
            ("kwok://node", None),
            ("aws:///zone/fargate-ip", None),
        ] {
            assert_eq!(parse_provider_id(text), expected, "{text}");
        }
    }

    #[test]
    fn how_it_was_bought_follows_from_spot_request_and_reservation() {
        let reserved = |preference| {
            let asked = CapacityReservationSpecificationResponse::builder();
            let asked = asked.capacity_reservation_preference(preference).build();
            described()
                .capacity_reservation_id("cr-1")
                .capacity_reservation_specification(asked)
                .build()
        };
        let only = reserved(CapacityReservationPreference::CapacityReservationsOnly);
        let open = reserved(CapacityReservationPreference::Open);
        let spot = described().spot_instance_request_id("sir-1").build();
        for (name, instance, gate, expected) in [
            ("plain", &described().build(), true, ON_DEMAND),
            ("spot", &spot, true, SPOT),
            ("asked for the reservation", &only, true, RESERVED),
            ("without the gate", &only, false, ON_DEMAND),
            ("happens to run in one", &open, true, ON_DEMAND),
        ] {
            assert_eq!(capacity_type(instance, gate), expected, "{name}");
        }
        let instance = read(&only, None, true).unwrap();
        assert_eq!(label(&instance, CAPACITY_RESERVATION_ID), "cr-1");
        assert_eq!(label(&read(&open, None, true).unwrap(), CAPACITY_RESERVATION_ID), "");
    }

    #[test]
    fn the_claim_is_the_one_of_the_tag_or_else_the_one_remembered() {
        let tag = Tag::builder().key("karpenter.sh/nodeclaim").value("tagged").build();
        let known: Name = Arc::from("remembered");
        let claim = |described: &Described, known| read(described, known, true).unwrap().claim;
        assert_eq!(claim(&described().build(), None), None);
        assert_eq!(claim(&described().build(), Some(&known)).as_deref(), Some("remembered"));
        let tagged = described().tags(tag).build();
        assert_eq!(claim(&tagged, Some(&known)).as_deref(), Some("tagged"));
    }

    #[test]
    fn labels_tell_what_decides_on_the_image() {
        let instance = read(&described().build(), None, true).unwrap();
        assert_eq!(label(&instance, ARCH), "amd64");
        assert_eq!(label(&instance, OS), "linux");
        assert_eq!(label(&instance, INSTANCE_GPU_COUNT), "1");
        assert_eq!(label(&instance, ZONE), "us-east-1b");
        let unknown = described().instance_type(InstanceType::from("z99.huge")).build();
        let instance = read(&unknown, None, true).unwrap();
        assert_eq!(label(&instance, ARCH), "", "nobody knows what image it should have");
    }

    #[test]
    fn an_instance_that_shuts_down_is_ending() {
        for (state, ending) in [
            (InstanceStateName::Pending, false),
            (InstanceStateName::Running, false),
            (InstanceStateName::Stopping, false),
            (InstanceStateName::Stopped, false),
            (InstanceStateName::ShuttingDown, true),
            (InstanceStateName::Terminated, true),
        ] {
            let instance = described().state(InstanceState::builder().name(state.clone()).build());
            assert_eq!(is_ending(&instance.build()), ending, "{state:?}");
        }
    }
}
