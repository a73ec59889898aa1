//! Whole regions: what is always true of them.

use kerf_catalog::aws::{OwnLabels, Wanted, Zone, Zones, aws, instance_types};
use kerf_catalog::price::{PRICED_REGION, PriceSource};
use kerf_catalog::region::zones;
use kerf_catalog::settings::{
    KubeletSettings, NodeClassSettings, PlacementGroup, VM_MEMORY_OVERHEAD_DEFAULT,
};
use kerf_catalog::shape::PlacementStrategy;
use kerf_catalog::table::shapes;
use kerf_catalog::{ami_family::AmiFamily, price_source, regions, share::Share};
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{Normalization, aws as label, well_known};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::vocabulary::Vocabulary;
use proptest::prelude::*;

fn region(name: &str, settings: &NodeClassSettings) -> Vec<InstanceType> {
    aws(name, settings, Zones::All).expect("the region is known")
}

fn value<'a>(offering: &'a Offering, key: &str) -> Option<&'a str> {
    let entry = offering.requirements.iter().find(|entry| entry.key == key)?;
    entry.values.first().map(String::as_str)
}

#[test]
fn thirty_regions_are_known_and_one_has_prices_of_its_own() {
    let names: Vec<&str> = regions().collect();
    assert_eq!(names.len(), 30);
    assert!(names.is_sorted());
    for name in names {
        let expected =
            if name == PRICED_REGION { PriceSource::OwnTable } else { PriceSource::OtherRegion };
        assert_eq!(price_source(name), Some(expected), "{name}");
    }
    assert_eq!(price_source("us-moon-1"), None);
}

#[test]
fn an_unknown_region_is_refused_with_the_known_ones() {
    let error = aws("us-moon-1", &NodeClassSettings::default(), Zones::All).expect_err("unknown");
    let text = error.to_string();
    assert!(text.contains("us-moon-1") && text.contains("eu-central-1"), "{text}");
}

#[test]
fn the_tables_hold_as_many_types_as_the_sources() {
    assert_eq!(shapes().len(), 1386);
    let settings = NodeClassSettings::default();
    for (name, types, offerings) in [("us-east-1", 1366, 12_778), ("me-south-1", 254, 1_494)] {
        let sold = region(name, &settings);
        assert_eq!(sold.len(), types, "types of {name}");
        let count: usize = sold.iter().map(|t| t.offerings.len()).sum();
        assert_eq!(count, offerings, "offerings of {name}");
    }
    // No type is sold anywhere that has no shape.
    let sold: usize = regions().map(|name| region(name, &settings).len()).sum();
    assert_eq!(sold, 21_213);
}

#[test]
fn every_type_of_every_region_is_sound() {
    let mut vocabulary = Vocabulary::new();
    let normalization = Normalization::core();
    for name in regions() {
        let zones = zones(name).expect("known");
        let types = region(name, &NodeClassSettings::default());
        assert!(types.is_sorted_by(|a, b| a.name < b.name), "{name}: order of names");
        for instance_type in &types {
            check_allocatable(instance_type);
            for offering in instance_type.offerings.iter() {
                let zone = value(offering, well_known::ZONE).expect("a zone");
                assert!(zones.iter().any(|known| known == zone), "{}: {zone}", instance_type.name);
                // AL2023 does not run on a1; everything else can be had.
                let expected = !instance_type.name.starts_with("a1.");
                assert_eq!(offering.available, expected, "{name} {}", instance_type.name);
                assert!(offering.price > Price::ZERO, "{name} {}: free", instance_type.name);
            }
            for entry in instance_type.requirements.iter() {
                entry.intern(&normalization, &mut vocabulary).expect("an entry has a meaning");
            }
        }
    }
}

fn check_allocatable(instance_type: &InstanceType) {
    let allocatable = instance_type.allocatable();
    for (resource, capacity) in instance_type.capacity.iter() {
        let left = allocatable.quantity(resource);
        assert!(left <= capacity, "{} {resource}: {left} of {capacity}", instance_type.name);
    }
    assert_eq!(allocatable.len(), instance_type.capacity.len(), "{}", instance_type.name);
}

#[test]
fn only_the_zones_of_the_node_class_are_offered() {
    let only = [
        Zone { name: "us-east-1a".to_owned(), id: Some("use1-az4".to_owned()) },
        Zone { name: "us-west-2a".to_owned(), id: None },
    ];
    let types = aws("us-east-1", &NodeClassSettings::default(), Zones::Only(&only)).expect("known");
    assert!(!types.is_empty());
    for instance_type in &types {
        assert!(!instance_type.offerings.is_empty(), "{}", instance_type.name);
        for offering in instance_type.offerings.iter() {
            assert_eq!(value(offering, well_known::ZONE), Some("us-east-1a"));
            assert_eq!(value(offering, label::ZONE_ID), Some("use1-az4"));
        }
    }
    let none = aws("us-east-1", &NodeClassSettings::default(), Zones::Only(&[])).expect("known");
    assert_eq!(none, []);
}

#[test]
fn a_type_without_a_known_price_is_sold_and_is_the_dearest() {
    let types = region("us-east-1", &NodeClassSettings::default());
    let known = types.iter().flat_map(|it| it.offerings.iter()).map(|offering| offering.price);
    let dearest = known.filter(|price| price.is_known()).max().expect("some have prices");
    let unpriced: Vec<&InstanceType> =
        types.iter().filter(|it| !it.offerings[0].price.is_known()).collect();
    assert!(!unpriced.is_empty(), "some are sold that the table has no price of");
    for offering in unpriced.iter().flat_map(|it| it.offerings.iter()) {
        assert!(offering.available && offering.price > dearest);
    }
}

#[test]
fn an_incompatible_type_is_there_but_not_available() {
    let types = region("us-east-1", &NodeClassSettings::default());
    let a1: Vec<_> =
        types.iter().filter(|instance_type| instance_type.name.starts_with("a1.")).collect();
    assert!(!a1.is_empty());
    assert!(a1.iter().all(|instance_type| instance_type.offerings.iter().all(|o| !o.available)));
    let bottlerocket =
        NodeClassSettings { ami_family: AmiFamily::Bottlerocket, ..NodeClassSettings::default() };
    let types = region("us-east-1", &bottlerocket);
    let a1 = types.iter().find(|instance_type| instance_type.name == "a1.large").expect("sold");
    assert!(a1.offerings.iter().all(|o| o.available));
}

#[test]
fn each_partition_of_a_placement_group_is_an_offering() {
    let group = PlacementGroup {
        id: "pg-1".to_owned(),
        strategy: PlacementStrategy::Partition,
        partitions: 3,
    };
    let settings =
        NodeClassSettings { placement_group: Some(group), ..NodeClassSettings::default() };
    let types = region("us-west-1", &settings);
    let instance_type =
        types.iter().find(|instance_type| instance_type.name == "m5.large").expect("sold");
    // Two zones, two capacity types, three partitions.
    assert_eq!(instance_type.offerings.len(), 12);
    let partitions: Vec<_> = instance_type.offerings[..3]
        .iter()
        .map(|offering| value(offering, label::PLACEMENT_GROUP_PARTITION))
        .collect();
    assert_eq!(partitions, [Some("1"), Some("2"), Some("3")]);
    let entry =
        instance_type.requirements.iter().find(|e| e.key == label::PLACEMENT_GROUP_PARTITION);
    assert_eq!(entry.expect("told").values, ["1", "2", "3"]);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let settings = NodeClassSettings::default();
    assert_eq!(region("eu-west-1", &settings), region("eu-west-1", &settings));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_settings_pods_get_no_more_than_there_is(
        index in 0..AmiFamily::ALL.len(),
        max_pods in proptest::option::of(0..2_000_u32),
        pods_per_core in 0..50_u32,
        overhead_ppm in 0..=1_000_000_u32,
        reserved_interfaces in 0..20_u32,
    ) {
        let kubelet = KubeletSettings { max_pods, pods_per_core, ..KubeletSettings::default() };
        let settings = NodeClassSettings {
            ami_family: AmiFamily::ALL[index],
            kubelet,
            vm_memory_overhead: Share::from_ppm(overhead_ppm),
            reserved_interfaces,
            ..NodeClassSettings::default()
        };
        for instance_type in region("me-south-1", &settings) {
            check_allocatable(&instance_type);
            let pods = instance_type.capacity.quantity("pods").value();
            prop_assert!(max_pods.is_none_or(|most| pods <= i128::from(most)));
        }
    }

    #[test]
    fn a_larger_share_never_leaves_more_memory(a in 0..=1_000_000_u32, b in 0..=1_000_000_u32) {
        let (low, high) = (Share::from_ppm(a.min(b)), Share::from_ppm(a.max(b)));
        for shape in shapes().iter().step_by(97) {
            let memory = kerf_catalog::capacity::memory;
            prop_assert!(memory(shape, high) <= memory(shape, low));
            prop_assert!(memory(shape, VM_MEMORY_OVERHEAD_DEFAULT) > memory(shape, Share::WHOLE));
        }
    }
}

#[test]
fn types_that_tell_fewer_labels_are_the_same_in_everything_else() {
    let settings = NodeClassSettings::default();
    let asked = [label::INSTANCE_CATEGORY, label::INSTANCE_CPU];
    let wanted = Wanted { labels: OwnLabels::Only(&asked), ..Wanted::ALL };
    let few = instance_types("eu-west-3", &settings, Zones::All, wanted).expect("known");
    let mut dropped = 0;
    for (few, mut all) in few.zip(region("eu-west-3", &settings)) {
        let before = all.requirements.len();
        let is_asked = |entry: &&RequirementEntry| {
            !entry.key.starts_with("karpenter.k8s.aws/") || asked.contains(&entry.key.as_str())
        };
        all.requirements = all.requirements.iter().filter(is_asked).cloned().collect();
        dropped += before - all.requirements.len();
        assert_eq!(few, all);
    }
    assert!(dropped > 0, "some labels must not have been asked for");
}

#[test]
fn types_for_some_pools_are_those_that_one_of_them_can_use() {
    let settings = NodeClassSettings::default();
    let entry = |key, operator, values: &[&str]| {
        RequirementEntry::new(key, operator, values.iter().copied())
    };
    let pools = [
        vec![entry(label::INSTANCE_CATEGORY, Operator::In, &["c"])],
        vec![
            entry(label::INSTANCE_CATEGORY, Operator::NotIn, &["c", "m"]),
            entry(label::INSTANCE_CPU, Operator::Gt, &["64"]),
        ],
    ];
    let wanted = Wanted { pools: Some(&pools), ..Wanted::ALL };
    let some = instance_types("eu-west-3", &settings, Zones::All, wanted).expect("known");
    let some: Vec<InstanceType> = some.collect();
    let mut all = region("eu-west-3", &settings);
    let before = all.len();
    all.retain(|it| {
        let told = |key| it.requirements.iter().find(|told| told.key == key).map(|it| &it.values);
        let category = told(label::INSTANCE_CATEGORY).and_then(|it| it.first());
        let cpu = told(label::INSTANCE_CPU).and_then(|it| it[0].parse().ok()).unwrap_or(0);
        category.is_some_and(|it| it == "c") || category.is_none_or(|it| it != "m") && cpu > 64
    });
    assert_eq!(some, all);
    assert!(all.len() > 50 && before - all.len() > 50, "both some and others must be left");
}
