//! Each filter by itself, and all of them in a row.

use std::sync::Arc;

use kerf_model::instance_type::Offering;
use kerf_model::labels::aws;

use super::super::fixtures::{any_of, instance_type, launch, offering, reserved, with_device};
use super::*;

fn rules() -> LabelRules {
    LabelRules::core().with(&aws::provider_labels())
}

/// `m5.large: cr-1 spot@a` and so on: what is left of the types.
fn left(candidates: &[Candidate<'_>]) -> Vec<String> {
    let way = |it: &&Offering| match &it.reservation {
        Some(reservation) => reservation.id.clone(),
        None => format!("{}@{}", value(it, CAPACITY_TYPE).unwrap(), value(it, ZONE).unwrap()),
    };
    let line = |it: &Candidate<'_>| {
        let ways: Vec<String> = it.offerings.iter().map(way).collect();
        format!("{}: {}", it.instance_type.name, ways.join(" "))
    };
    candidates.iter().map(line).collect()
}

fn all(types: &[InstanceType]) -> Vec<Candidate<'_>> {
    available(&launch(Vec::new()), types, &rules()).unwrap()
}

#[test]
fn only_what_the_claim_allows_and_can_be_had_is_asked_for() {
    let sold_out = Offering { available: false, ..offering("on-demand b 10") };
    let mut small = instance_type("t3.nano", vec![offering("on-demand a 1")]);
    Arc::make_mut(&mut small.capacity).insert("cpu", kerf_model::quantity::Quantity::default());
    let types = [
        instance_type("m5.large", vec![offering("on-demand a 10"), offering("spot a 3"), sold_out]),
        instance_type("c5.large", vec![offering("on-demand a 9")]),
        small,
    ];
    let families = any_of(INSTANCE_SIZE, &["large", "nano"]);
    let on_demand = any_of(CAPACITY_TYPE, &["on-demand"]);
    let found = available(&launch(vec![families, on_demand]), &types, &rules()).unwrap();
    assert_eq!(left(&found), ["c5.large: on-demand@a", "m5.large: on-demand@a"]);
}

#[test]
fn reservations_of_the_cheapest_kind_push_out_everything_else() {
    for (name, ways, expected) in [
        ("none reserved", vec![offering("spot a 3")], vec!["m5.large: spot@a"]),
        (
            "the cheapest kind",
            vec![
                reserved("cr-1 default a 1 5"),
                reserved("cr-2 interruptible a 1 4"),
                offering("spot a 3"),
            ],
            vec!["m5.large: cr-2"],
        ),
        (
            "default before blocks before interruptible",
            vec![
                reserved("cr-3 interruptible a 1 5"),
                reserved("cr-2 capacity-block a 1 5"),
                reserved("cr-1 default a 1 5"),
            ],
            vec!["m5.large: cr-1"],
        ),
    ] {
        let types = [instance_type("m5.large", ways)];
        assert_eq!(left(&of_one_reservation_kind(all(&types))), expected, "{name}");
    }
}

#[test]
fn of_capacity_blocks_only_the_cheapest_is_asked_for() {
    let types = [
        instance_type("p5.large", vec![reserved("cr-1 capacity-block a 1 7")]),
        instance_type(
            "p4.large",
            vec![reserved("cr-3 capacity-block b 1 6"), reserved("cr-2 capacity-block a 1 5")],
        ),
    ];
    assert_eq!(left(&of_one_capacity_block(all(&types))), ["p4.large: cr-2"]);
    let types = [instance_type("m5.large", vec![offering("spot a 1"), offering("spot b 2")])];
    assert_eq!(left(&of_one_capacity_block(all(&types))), ["m5.large: spot@a spot@b"]);
}

#[test]
fn of_several_reservations_in_a_zone_the_one_with_most_left_is_used() {
    let types = [
        instance_type(
            "m5.large",
            vec![
                reserved("cr-1 default a 2 5"),
                reserved("cr-2 default a 9 5"),
                reserved("cr-3 default b 1 5"),
                reserved("cr-4 default c 4 5"),
                reserved("cr-5 default c 4 5"),
            ],
        ),
        instance_type("c5.large", vec![offering("spot a 1")]),
    ];
    let mut found = left(&of_fullest_reservations(all(&types)));
    let mut ids: Vec<&str> = found[0].split(' ').collect();
    ids.sort_unstable();
    assert_eq!(ids, ["cr-2", "cr-3", "cr-4", "m5.large:"], "the first id of equals");
    assert_eq!(found.split_off(1), [""; 0], "a type without reservations is not asked for");
}

#[test]
fn bare_metal_and_accelerators_go_only_to_who_has_no_other_choice() {
    let metal = instance_type("m5.metal", vec![offering("spot a 1")]);
    let gpu = with_device(instance_type("g4dn.xlarge", vec![offering("spot a 2")]), NVIDIA_GPU);
    let plain = instance_type("m5.large", vec![offering("spot a 3")]);
    let types = [metal.clone(), gpu.clone(), plain];
    assert_eq!(left(&without_exotic(all(&types))), ["m5.large: spot@a"]);
    let types = [metal, gpu];
    assert_eq!(left(&without_exotic(all(&types))), ["m5.metal: spot@a", "g4dn.xlarge: spot@a"]);
    for device in EXOTIC {
        let one = with_device(instance_type("x.large", vec![offering("spot a 1")]), device);
        let types = [one, instance_type("m5.large", vec![offering("spot a 3")])];
        assert_eq!(left(&without_exotic(all(&types))), ["m5.large: spot@a"], "{device}");
    }
}

#[test]
fn spot_dearer_than_on_demand_is_not_asked_for() {
    let types = [
        instance_type("c5.large", vec![offering("spot a 5"), offering("spot b 11")]),
        instance_type("m5.large", vec![offering("on-demand a 10"), offering("spot a 12")]),
        instance_type("r5.large", vec![offering("on-demand a 14")]),
    ];
    let expected = ["c5.large: spot@a", "m5.large: on-demand@a", "r5.large: on-demand@a"];
    assert_eq!(left(&without_dear_spot(all(&types))), expected);
    let types = [instance_type("c5.large", vec![offering("spot a 5"), offering("spot b 11")])];
    assert_eq!(left(&without_dear_spot(all(&types))), ["c5.large: spot@a spot@b"]);
}

fn many(count: usize) -> Vec<InstanceType> {
    let one = |n: usize| {
        instance_type(&format!("f{n}.large"), vec![offering(&format!("on-demand a {}", 1_000 - n))])
    };
    (0..count).map(one).collect()
}

#[test]
fn the_sixty_cheapest_types_are_asked_for() {
    let types = many(80);
    let found = candidates(&launch(Vec::new()), &types, &rules()).unwrap();
    assert_eq!(found.len(), 60);
    assert_eq!(found[0].instance_type.name, "f79.large");
    assert_eq!(found[59].instance_type.name, "f20.large");
}

#[test]
fn min_values_keep_exotic_types_and_must_still_hold() {
    let min_values = |wanted| {
        let mut entry = any_of(aws::INSTANCE_FAMILY, &[]);
        entry.operator = kerf_model::requirement::Operator::Exists;
        entry.min_values = Some(wanted);
        launch(vec![entry])
    };
    let metal = instance_type("m5.metal", vec![offering("spot a 20")]);
    let types = [
        metal,
        instance_type("c5.large", vec![offering("on-demand a 10")]),
        instance_type("r5.large", vec![offering("on-demand a 9")]),
    ];
    let found = candidates(&min_values(3), &types, &rules()).unwrap();
    assert_eq!(found.len(), 3, "neither metal nor dear spot is dropped");
    let failed = candidates(&min_values(4), &types, &rules()).unwrap_err();
    assert!(matches!(failed, Failure::InsufficientCapacity { .. }), "{failed:?}");
    let many = many(80);
    assert!(candidates(&min_values(61), &many, &rules()).is_err(), "sixty are asked for at most");
    let mut relaxed = min_values(61);
    relaxed.claim.spec.annotations.insert(MIN_VALUES_RELAXED.to_owned(), "true".to_owned());
    assert_eq!(candidates(&relaxed, &many, &rules()).unwrap().len(), 60);
}

#[test]
fn a_claim_for_which_nothing_is_left_finds_no_capacity() {
    let types = [instance_type("m5.large", vec![offering("spot a 1")])];
    let only = launch(vec![any_of(CAPACITY_TYPE, &["on-demand"])]);
    let failed = candidates(&only, &types, &rules()).unwrap_err();
    let Failure::InsufficientCapacity { message } = failed else { panic!("{failed:?}") };
    assert!(message.starts_with("all requested instance types were unavailable during launch"));
}
