//! What pools are offered: zones that are shifted away from, NodeOverlays, and what a launch is
//! decided on.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeSet;
use std::sync::Arc;

use cluster::{Cluster, START, meta, ready_pool, settings};
use kerf_engine::Settings;
use kerf_engine::action::{ActionKind, Launch};
use kerf_engine::condition::{READY, Status};
use kerf_engine::event::{Event, Key, Object};
use kerf_engine::observed::{Overlay, ShiftedZone};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::labels::annotation::{CAPACITY_OVERLAY_APPLIED, PRICE_OVERLAY_APPLIED};
use kerf_model::labels::well_known::{INSTANCE_TYPE, ZONE};
use kerf_model::overlay::NodeOverlay;
use kerf_model::price::{Price, PriceAdjustment};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

/// The zones in which something is available.
fn available(types: &[InstanceType]) -> BTreeSet<&str> {
    let offerings = types.iter().flat_map(|it| it.offerings.iter());
    let offerings = offerings.filter(|offering| offering.available);
    let entries = offerings.flat_map(|offering| &*offering.requirements);
    let zones = entries.filter(|entry| entry.key == ZONE).flat_map(|entry| &entry.values);
    zones.map(String::as_str).collect()
}

fn types<'c>(cluster: &'c Cluster, pool: &str) -> &'c Arc<[InstanceType]> {
    &cluster.engine.world().instance_types[pool]
}

fn shift(cluster: &mut Cluster, zones: &[&str]) {
    let shifted = |zone: &&str| ShiftedZone {
        name: (*zone).into(),
        id: (*zone).into(),
        origin: "manual".into(),
        since: START,
    };
    cluster.undelivered.push_back(Event::Shifted(zones.iter().map(shifted).collect()));
    cluster.settle();
}

fn launches(cluster: &Cluster) -> Vec<&Launch> {
    let launches = cluster.actions.iter().filter_map(|(_, action)| match &action.kind {
        ActionKind::Launch(launch) => Some(&**launch),
        _ => None,
    });
    launches.collect()
}

#[test]
fn nothing_is_available_in_a_shifted_zone_and_everything_stays_known() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.settle();
    let before = types(&cluster, "pool").clone();
    assert_eq!(available(&before), ["zone-a", "zone-b"].into());
    shift(&mut cluster, &["zone-a"]);
    let during = types(&cluster, "pool");
    assert_eq!(available(during), ["zone-b"].into());
    let count = |types: &[InstanceType]| types.iter().map(|it| it.offerings.len()).sum::<usize>();
    assert_eq!(count(during), count(&before), "prices of what cannot be had are still known");
    shift(&mut cluster, &[]);
    assert!(Arc::ptr_eq(types(&cluster, "pool"), &before), "no copy for nothing");
}

#[test]
fn a_claim_that_allows_a_shifted_zone_is_launched_in_another() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
    cluster.pend("web", "1");
    cluster.seconds(2);
    shift(&mut cluster, &["zone-a"]);
    // The first try was never answered.
    cluster.seconds(200);
    let rules = LabelRules::core();
    let zones = |launch: &Launch| -> BTreeSet<String> {
        let types = launch.instance_types.as_ref().unwrap();
        let offerings = launch.offerings(types, &rules).unwrap();
        let entries = offerings.iter().flat_map(|it| &*it.offering.requirements);
        let zones = entries.filter(|entry| entry.key == ZONE);
        zones.flat_map(|entry| entry.values.clone()).collect()
    };
    let launches = launches(&cluster);
    assert_eq!(zones(launches[0]), ["zone-a", "zone-b"].map(str::to_owned).into());
    assert_eq!(zones(launches.last().unwrap()), ["zone-b".to_owned()].into());
}

#[test]
fn a_launch_carries_its_class_and_what_the_pool_is_offered_cheapest_first() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("web", "1");
    cluster.seconds(2);
    let launches = launches(&cluster);
    let launch = launches[0];
    assert_eq!(launch.node_class.as_ref().unwrap().key, cluster::class_ref());
    let types = launch.instance_types.as_ref().unwrap();
    let offerings = launch.offerings(types, &LabelRules::core()).unwrap();
    let prices: Vec<Price> = offerings.iter().map(|it| it.offering.price).collect();
    assert!(prices.is_sorted() && !prices.is_empty(), "{prices:?}");
    let named = launch.named_types().unwrap();
    assert!(offerings.iter().all(|it| named.contains(&it.instance_type.name)));
}

#[test]
fn a_claim_from_before_a_restart_is_launched_before_its_pool_is_offered_anything() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
    cluster.pend("web", "1");
    cluster.seconds(2);
    cluster.instance_types.clear();
    cluster.actions.clear();
    cluster.crash();
    cluster.seconds(1);
    let [launch] = launches(&cluster)[..] else { panic!("{:?}", cluster.log()) };
    assert_eq!(launch.instance_types, None, "the provider knows what its class allows");
}

fn overlay(name: &str, change: impl FnOnce(&mut NodeOverlay)) -> Object {
    let mut spec = NodeOverlay {
        name: name.to_owned(),
        weight: 0,
        requirements: Vec::new(),
        price: None,
        capacity: ResourceList::new(),
    };
    change(&mut spec);
    let (spec, conditions) = (Ok(Arc::new(spec)), Default::default());
    Object::Overlay(Overlay { meta: meta(name), spec, conditions })
}

fn costs(micros: u64) -> Option<PriceAdjustment> {
    Some(PriceAdjustment::Absolute(Price::from_micros_per_hour(micros)))
}

/// A cluster that reads overlays.
fn with_overlays() -> Cluster {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.restart_with(Settings { node_overlays: true, ..settings() });
    cluster
}

fn condition(cluster: &Cluster, name: &str) -> (Status, String) {
    match &cluster.objects[&Key::Overlay(name.into())] {
        Object::Overlay(overlay) => {
            let ready = overlay.conditions.get(READY).unwrap();
            let cause = overlay.conditions.get("ValidationSucceeded").unwrap();
            (ready.status, cause.reason.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_overlay_changes_prices_where_pods_are_placed_and_marks_the_claims() {
    let mut cluster = with_overlays();
    cluster.store(overlay("cheap-eight", |overlay| {
        overlay.requirements = vec![RequirementEntry::new(INSTANCE_TYPE, Operator::In, ["m-8x"])];
        overlay.price = costs(1_000);
        overlay.capacity = [("example.com/fpga", Quantity::from_int(2))].into_iter().collect();
    }));
    cluster.pend("web", "1");
    cluster.seconds(2);
    let claims = cluster.ordered_claims();
    let [claim] = claims[..] else { panic!("{claims:?}") };
    let launch = launches(&cluster)[0];
    let offered = launch.instance_types.as_ref().unwrap();
    let cheapest = launch.offerings(offered, &LabelRules::core()).unwrap()[0];
    assert_eq!(cheapest.instance_type.name, "m-8x");
    assert_eq!(claim.spec.annotations[PRICE_OVERLAY_APPLIED], "true");
    assert_eq!(claim.spec.annotations[CAPACITY_OVERLAY_APPLIED], "true");
    let eight = types(&cluster, "pool").iter().find(|it| it.name == "m-8x").unwrap();
    assert_eq!(eight.capacity.quantity("example.com/fpga"), Quantity::from_int(2));
    assert_eq!(condition(&cluster, "cheap-eight"), (Status::True, "ValidationSucceeded".into()));
    cluster.remove(&Key::Overlay("cheap-eight".into()));
    cluster.settle();
    assert!(Arc::ptr_eq(types(&cluster, "pool"), &cluster.instance_types["pool"]));
}

#[test]
fn overlays_that_conflict_or_make_no_sense_say_so_and_change_nothing() {
    let mut cluster = with_overlays();
    cluster.store(overlay("a", |overlay| overlay.price = costs(1)));
    cluster.store(overlay("b", |overlay| overlay.price = costs(2)));
    let Object::Overlay(mut broken) = overlay("broken", |_| {}) else { unreachable!() };
    broken.spec = Err("spec.price: is not a price".to_owned());
    cluster.store(Object::Overlay(broken));
    cluster.settle();
    assert_eq!(condition(&cluster, "a"), (Status::False, "Conflict".into()));
    assert_eq!(condition(&cluster, "b"), (Status::True, "ValidationSucceeded".into()));
    assert_eq!(condition(&cluster, "broken"), (Status::False, "RuntimeValidation".into()));
    let price = types(&cluster, "pool")[0].offerings[0].price;
    assert_eq!(price, Price::from_micros_per_hour(2));
    // The other is gone, and with it the conflict.
    cluster.remove(&Key::Overlay("b".into()));
    cluster.settle();
    assert_eq!(condition(&cluster, "a"), (Status::True, "ValidationSucceeded".into()));
    assert_eq!(types(&cluster, "pool")[0].offerings[0].price, Price::from_micros_per_hour(1));
}

#[test]
fn a_pool_that_changes_its_labels_changes_what_overlays_match() {
    let mut cluster = with_overlays();
    cluster.store(overlay("gold", |overlay| {
        overlay.requirements = vec![RequirementEntry::new("tier", Operator::In, ["gold"])];
        overlay.price = costs(7);
    }));
    cluster.settle();
    assert!(Arc::ptr_eq(types(&cluster, "pool"), &cluster.instance_types["pool"]));
    cluster.store(Object::Pool(ready_pool("pool", |pool| {
        pool.template.labels.insert("tier".to_owned(), "gold".to_owned());
    })));
    cluster.settle();
    assert_eq!(types(&cluster, "pool")[0].offerings[0].price, Price::from_micros_per_hour(7));
}
