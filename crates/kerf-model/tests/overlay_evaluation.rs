//! Overlays and offered in; prices, capacities and what was skipped, out.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::budget::BudgetList;
use kerf_model::duration::NillableDuration;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::Normalization;
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::overlay::NodeOverlay;
use kerf_model::overlay_evaluation::{OverlayEvaluation, PoolInstanceTypes, evaluate_overlays};
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::price::{Price, PriceAdjustment};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use proptest::prelude::*;

const ZONE: &str = "topology.kubernetes.io/zone";
const TYPE: &str = "node.kubernetes.io/instance-type";
const POOL: &str = "karpenter.sh/nodepool";

fn is(key: &str, values: &[&str]) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, values.iter().copied())
}

/// A type at 1 $/h in zone a and 2 $/h in zone b.
fn machine(name: &str) -> InstanceType {
    let offering = |zone: &str, dollars: u64| Offering {
        requirements: [is(ZONE, &[zone])].into(),
        price: Price::from_micros_per_hour(dollars * 1_000_000),
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    };
    InstanceType {
        name: name.to_owned(),
        requirements: [is(TYPE, &[name]), is(ZONE, &["a", "b"])].into(),
        capacity: Arc::new(ResourceList::from_iter([("cpu", Quantity::from_int(4))])),
        overhead: Arc::default(),
        offerings: [offering("a", 1), offering("b", 2)].into(),
    }
}

fn pool(name: &str, labels: &[(&str, &str)]) -> NodePool {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    NodePool {
        name: name.to_owned(),
        weight: 0,
        sizing: Sizing::Dynamic,
        limits: ResourceList::new(),
        disruption: Disruption {
            policy: ConsolidationPolicy::default(),
            consolidate_after: NillableDuration::NEVER,
            budgets: BudgetList::default(),
        },
        template: NodeTemplate {
            labels: labels.iter().map(owned).collect(),
            annotations: BTreeMap::new(),
            spec: NodeSpec {
                taints: Vec::new(),
                startup_taints: Vec::new(),
                requirements: Vec::new(),
                node_class: NodeClassRef {
                    group: "example.com".to_owned(),
                    kind: "Class".to_owned(),
                    name: "default".to_owned(),
                },
                termination_grace: None,
                expire_after: NillableDuration::NEVER,
            },
        },
        hash: String::new(),
    }
}

fn overlay(name: &str, weight: u32, requirements: Vec<RequirementEntry>) -> NodeOverlay {
    let capacity = ResourceList::new();
    NodeOverlay { name: name.to_owned(), weight, requirements, price: None, capacity }
}

fn priced(mut overlay: NodeOverlay, price: &str) -> NodeOverlay {
    let adjustment = match price.starts_with(['+', '-']) {
        true => PriceAdjustment::parse(price).expect("an adjustment"),
        false => PriceAdjustment::Absolute(Price::parse(price).expect("a price")),
    };
    overlay.price = Some(adjustment);
    overlay
}

fn with(mut overlay: NodeOverlay, resource: &str, amount: i64) -> NodeOverlay {
    overlay.capacity.insert(resource, Quantity::from_int(amount));
    overlay
}

/// Pools `one` (label team=x) and `two`, each with types `m` and `n`.
fn evaluated(overlays: &[NodeOverlay]) -> (OverlayEvaluation, Vec<String>) {
    let types = [machine("m"), machine("n")];
    let pools = [pool("one", &[("team", "x")]), pool("two", &[])];
    let offered: Vec<_> =
        pools.iter().map(|pool| PoolInstanceTypes { pool, instance_types: &types }).collect();
    let evaluation = evaluate_overlays(overlays, &offered, &Normalization::core());
    let mut lines = Vec::new();
    for (pool, overlay) in pools.iter().zip(&evaluation.pools) {
        for (before, after) in types.iter().zip(overlay.apply(&types)) {
            if *before != after {
                let prices: Vec<_> =
                    after.offerings.iter().map(|offering| offering.price.to_string()).collect();
                let extra = after.capacity.iter().filter(|(name, _)| *name != "cpu");
                let extra: Vec<_> = extra.map(|(name, much)| format!(" {name}={much}")).collect();
                let (pool, name) = (&pool.name, &after.name);
                lines.push(format!("{pool}/{name} {}{}", prices.join(" "), extra.concat()));
            }
        }
    }
    lines.extend(
        evaluation.skipped.iter().map(|skipped| {
            format!("{} skipped: {}", overlays[skipped.overlay].name, skipped.reason)
        }),
    );
    (evaluation, lines)
}

#[track_caller]
fn check(overlays: &[NodeOverlay], expected: &[&str]) {
    assert_eq!(evaluated(overlays).1, expected);
}

#[test]
fn an_overlay_without_requirements_changes_everything() {
    check(
        &[priced(overlay("all", 0, vec![]), "+0.5")],
        &[
            "one/m 1.5000 2.5000",
            "one/n 1.5000 2.5000",
            "two/m 1.5000 2.5000",
            "two/n 1.5000 2.5000",
        ],
    );
}

#[test]
fn prices_are_replaced_added_to_multiplied_and_never_below_zero() {
    let only = || vec![is(TYPE, &["m"]), is(POOL, &["one"])];
    for (price, expected) in [
        ("0.25", "one/m 0.2500 0.2500"),
        ("+0.1", "one/m 1.1000 2.1000"),
        ("-1.5", "one/m 0.0000 0.5000"),
        ("+10%", "one/m 1.1000 2.2000"),
        ("-25%", "one/m 0.7500 1.5000"),
        ("-100%", "one/m 0.0000 0.0000"),
    ] {
        check(&[priced(overlay("it", 0, only()), price)], &[expected]);
    }
}

#[test]
fn only_offerings_that_match_change_their_price() {
    let only = vec![is(TYPE, &["m"]), is(ZONE, &["b"]), is(POOL, &["two"])];
    check(&[priced(overlay("b", 0, only), "0.5")], &["two/m 1.0000 0.5000"]);
}

#[test]
fn capacity_is_of_the_whole_type_as_soon_as_one_offering_matches() {
    let only = vec![is(TYPE, &["n"]), is(ZONE, &["b"]), is(POOL, &["two"])];
    check(
        &[with(overlay("b", 0, only), "example.com/fpga", 2)],
        &["two/n 1.0000 2.0000 example.com/fpga=2"],
    );
}

#[test]
fn labels_of_the_pool_count_and_labels_nobody_defines_do_not_match() {
    let team = |value| vec![is("team", &[value]), is(TYPE, &["m"])];
    check(&[priced(overlay("x", 0, team("x")), "3")], &["one/m 3.0000 3.0000"]);
    check(&[priced(overlay("y", 0, team("y")), "3")], &[]);
    let shunned = vec![RequirementEntry::new("team", Operator::DoesNotExist, []), is(TYPE, &["m"])];
    check(&[priced(overlay("none", 0, shunned), "3")], &["two/m 3.0000 3.0000"]);
}

#[test]
fn the_heavier_overlay_wins_and_the_lighter_fills_the_gaps() {
    let here = |zones: &[&str]| vec![is(TYPE, &["m"]), is(POOL, &["one"]), is(ZONE, zones)];
    check(
        &[
            with(priced(overlay("light", 1, here(&["a", "b"])), "9"), "example.com/a", 1),
            with(priced(overlay("heavy", 2, here(&["a"])), "5"), "example.com/b", 2),
        ],
        &["one/m 5.0000 9.0000 example.com/a=1 example.com/b=2"],
    );
}

#[test]
fn of_two_with_the_same_weight_the_later_in_the_alphabet_stays() {
    let only = || vec![is(TYPE, &["m"]), is(POOL, &["one"])];
    check(
        &[priced(overlay("a", 0, only()), "5"), priced(overlay("b", 0, only()), "6")],
        &[
            "one/m 6.0000 6.0000",
            "a skipped: it conflicts with NodeOverlay \"b\", which has the same weight, over the \
             price of m in pool \"one\"; give one of them another weight",
        ],
    );
}

#[test]
fn a_conflicting_overlay_is_skipped_in_every_pool_and_whole() {
    let there = |pools: &[&str]| vec![is(TYPE, &["m"]), is(POOL, pools)];
    let (evaluation, lines) = evaluated(&[
        with(priced(overlay("a", 7, there(&["one", "two"])), "5"), "example.com/a", 1),
        priced(overlay("b", 7, there(&["two"])), "6"),
    ]);
    assert_eq!(lines[0], "two/m 6.0000 6.0000");
    assert_eq!(evaluation.skipped.len(), 1);
    assert!(evaluation.pools[0].types.is_empty());
}

#[test]
fn overlays_of_the_same_weight_agree_where_they_say_different_things() {
    let only = || vec![is(TYPE, &["m"]), is(POOL, &["one"])];
    check(
        &[
            with(overlay("a", 3, only()), "example.com/a", 1),
            with(overlay("b", 3, only()), "example.com/b", 2),
            priced(overlay("c", 3, only()), "4"),
        ],
        &["one/m 4.0000 4.0000 example.com/a=1 example.com/b=2"],
    );
}

#[test]
fn three_of_the_same_weight_conflict_also_when_the_one_between_says_something_else() {
    let only = || vec![is(TYPE, &["m"]), is(POOL, &["one"])];
    let (evaluation, lines) = evaluated(&[
        with(overlay("a", 3, only()), "example.com/x", 1),
        with(overlay("b", 3, only()), "example.com/y", 2),
        with(overlay("c", 3, only()), "example.com/x", 3),
    ]);
    assert_eq!(lines[0], "one/m 1.0000 2.0000 example.com/x=3 example.com/y=2");
    assert_eq!(evaluation.skipped[0].overlay, 0);
}

#[test]
fn two_that_conflict_do_so_under_a_heavier_one_too() {
    let only = || vec![is(TYPE, &["m"]), is(POOL, &["one"])];
    let (evaluation, lines) = evaluated(&[
        priced(overlay("a", 1, only()), "5"),
        priced(overlay("b", 1, only()), "6"),
        priced(overlay("c", 2, only()), "7"),
    ]);
    assert_eq!(lines[0], "one/m 7.0000 7.0000");
    assert_eq!(evaluation.skipped.len(), 1);
    assert_eq!(evaluation.skipped[0].overlay, 0);
}

#[test]
fn an_overlay_that_cannot_be_understood_is_skipped_and_said() {
    let bad = RequirementEntry::new("cores", Operator::Gt, ["many"]);
    let (evaluation, lines) = evaluated(&[priced(overlay("bad", 0, vec![bad]), "5")]);
    assert_eq!(evaluation.skipped.len(), 1);
    assert!(lines.len() == 1 && lines[0].starts_with("bad skipped: "), "{lines:?}");
}

fn any_overlay() -> impl Strategy<Value = NodeOverlay> {
    let zones = prop::sample::subsequence(vec!["a", "b"], 1..=2);
    let types = prop::sample::subsequence(vec!["m", "n"], 1..=2);
    (0_u32..3, zones, types, prop::option::of(0_u64..5), 0_i64..3).prop_map(
        |(weight, zones, types, price, extra)| {
            let entries = vec![is(ZONE, &zones), is(TYPE, &types)];
            let mut made = overlay("", weight, entries);
            made.price =
                price.map(|price| PriceAdjustment::Absolute(Price::from_micros_per_hour(price)));
            if extra > 0 { with(made, "example.com/a", extra) } else { made }
        },
    )
}

proptest! {
    #[test]
    fn the_order_in_which_overlays_are_given_does_not_matter(
        mut overlays in prop::collection::vec(any_overlay(), 0..6),
        turn in 0_usize..6,
    ) {
        for (index, overlay) in overlays.iter_mut().enumerate() {
            overlay.name = format!("overlay-{index}");
        }
        let straight = evaluated(&overlays).1;
        if !overlays.is_empty() {
            let turn = turn % overlays.len();
            overlays.rotate_left(turn);
        }
        prop_assert_eq!(evaluated(&overlays).1, straight);
    }

    #[test]
    fn taking_a_skipped_overlay_away_changes_nothing(
        mut overlays in prop::collection::vec(any_overlay(), 0..6),
    ) {
        for (index, overlay) in overlays.iter_mut().enumerate() {
            overlay.name = format!("overlay-{index}");
        }
        let whole = evaluated(&overlays).0;
        let skipped: Vec<usize> = whole.skipped.iter().map(|it| it.overlay).collect();
        let kept: Vec<NodeOverlay> = overlays
            .iter()
            .enumerate()
            .filter(|(index, _)| !skipped.contains(index))
            .map(|(_, overlay)| overlay.clone())
            .collect();
        let again = evaluated(&kept).0;
        prop_assert_eq!(again.pools, whole.pools);
        prop_assert!(again.skipped.is_empty());
    }
}
