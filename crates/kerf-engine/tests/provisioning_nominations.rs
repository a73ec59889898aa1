//! Nominations hold, and what is on its way counts.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::collections::BTreeMap;
use std::sync::Arc;

use cluster::{
    Cluster, allowed, amounts, daemon_set, instances, meta, pod_key, ready_pool, shape, waiting_pod,
};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Failure, Key, Object};
use kerf_engine::observed::{Node, NodeProfile, PodPhase};
use kerf_engine::time::Span;
use kerf_model::instance_type::Reservation;
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, RESERVED};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::{Taint, TaintEffect};

fn without_launches(cluster: &mut Cluster) {
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
}

#[test]
fn the_next_pod_takes_the_room_left_on_a_node_that_is_not_launched_yet() {
    let mut cluster = Cluster::with_pool(|_| {});
    without_launches(&mut cluster);
    cluster.pend("a", "3");
    cluster.seconds(5);
    cluster.pend("b", "1");
    cluster.seconds(5);
    assert_eq!(cluster.ordered_claims().len(), 1, "{:?}", cluster.log());
    assert_eq!(cluster.target_of("a"), cluster.target_of("b"));
    cluster.pend("c", "1");
    cluster.seconds(5);
    assert_eq!(cluster.ordered_claims().len(), 2, "four CPUs hold no fifth");
}

#[test]
fn one_claim_that_is_never_launched_delays_no_other_pool() {
    let mut cluster = Cluster::new();
    cluster.add_pool(ready_pool("a", |pool| label(pool, "a")));
    cluster.add_pool(ready_pool("b", |pool| label(pool, "b")));
    cluster.ignores = |kind| match kind {
        ActionKind::Launch(launch) => launch.claim.pool() == Some("a"),
        _ => false,
    };
    for pool in ["a", "b"] {
        let mut shape = shape("1");
        shape.placement.node_selector.insert("kind".to_owned(), pool.to_owned());
        cluster.pend_shape(&format!("for-{pool}"), shape);
        cluster.seconds(30);
    }
    cluster.bind();
    assert!(cluster.target_of("for-a").is_some());
    let bound: Vec<_> = cluster.pods().iter().filter_map(|pod| pod.node()).cloned().collect();
    assert_eq!(bound.len(), 1, "{:?}", cluster.log());
}

fn label(pool: &mut kerf_model::pool::NodePool, kind: &str) {
    pool.template.labels.insert("kind".to_owned(), kind.to_owned());
}

#[test]
fn a_pod_that_went_while_the_answer_was_thought_about_gets_no_node() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "3");
    cluster.seconds(2);
    cluster.remove(&Key::Pod(pod_key("a")));
    cluster.answer_last_solve();
    cluster.seconds(5);
    assert!(cluster.ordered_claims().is_empty());
}

#[test]
fn a_claim_asks_for_what_the_pods_that_stayed_need() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.store(daemon_set("agent", "500m"));
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "2");
    cluster.pend("b", "1");
    cluster.seconds(2);
    cluster.remove(&Key::Pod(pod_key("a")));
    cluster.answer_last_solve();
    cluster.settle();
    let claims = cluster.ordered_claims();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].spec.requests.quantity("cpu").to_string(), "1500m");
}

#[test]
fn a_pool_that_changed_while_the_answer_was_thought_about_is_asked_about_again() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "1");
    cluster.seconds(2);
    cluster.store(Object::Pool(ready_pool("pool", |pool| label(pool, "new"))));
    cluster.answer_last_solve();
    cluster.settle();
    assert!(cluster.ordered_claims().is_empty());
    cluster.ignores = |_| false;
    cluster.seconds(2);
    assert_eq!(cluster.solves().len(), 2);
    let claims = cluster.ordered_claims();
    assert_eq!(claims[0].spec.labels.get("kind").map(String::as_str), Some("new"));
}

#[test]
fn a_node_that_went_while_the_answer_was_thought_about_gets_no_pods() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.store(Object::Node(plain_node("own")));
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("a", "1");
    cluster.seconds(2);
    assert_eq!(cluster.solves()[0].1.nodes.len(), 1);
    cluster.remove(&Key::Node("own".into()));
    cluster.answer_last_solve();
    cluster.settle();
    assert_eq!(cluster.target_of("a"), None);
    cluster.ignores = |_| false;
    cluster.seconds(2);
    assert_eq!(cluster.ordered_claims().len(), 1, "asked again within a second");
}

#[test]
fn pods_of_a_claim_that_failed_are_placed_again_at_once() {
    let mut cluster = Cluster::with_pool(|_| {});
    let message = "no m-2x in zone-a".to_owned();
    cluster.launch_fails = Some(Failure::InsufficientCapacity { message });
    cluster.pend("a", "1");
    cluster.seconds(2);
    cluster.launch_fails = None;
    cluster.seconds(2);
    assert_eq!(cluster.claims().len(), 1, "{:?}", cluster.log());
    assert!(cluster.ordered_claims().len() >= 2);
    let target = cluster.target_of("a").expect("it has a place");
    assert_eq!(target, cluster.claims()[0].meta.name);
}

#[test]
fn a_restart_makes_no_second_node_for_the_same_pods() {
    for seconds in [1, 2, 5, 11, 15, 21, 30] {
        let mut cluster = Cluster::with_pool(|_| {});
        for number in 0..3 {
            cluster.pend(&format!("pod-{number}"), "7");
        }
        cluster.seconds(seconds);
        cluster.crash();
        cluster.seconds(60);
        assert_eq!(cluster.claims().len(), 3, "after {seconds} s: {:?}", cluster.log());
    }
}

#[test]
fn a_nomination_ends_twenty_seconds_after_its_node_is_up() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "1");
    cluster.seconds(35);
    assert_eq!(cluster.solves().len(), 1, "the node is up since 21 s");
    cluster.seconds(30);
    assert!(cluster.solves().len() > 1, "{:?}", cluster.log());
    assert_eq!(cluster.claims().len(), 1, "the place is still the best one");
}

#[test]
fn a_pod_whose_place_was_taken_by_another_gets_one_within_seconds() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.pend("a", "3");
    cluster.pend("b", "1");
    cluster.seconds(22);
    let first = cluster.target_of("a").expect("it has a place");
    assert_eq!(cluster.target_of("b"), Some(first.clone()));
    let node = cluster.node().meta.name.to_string();
    let mut orphan = waiting_pod("stranger", "2", cluster.now);
    orphan.phase = PodPhase::Bound { node: node.as_str().into() };
    cluster.store(Object::Pod(orphan));
    cluster.seconds(3);
    assert_eq!(cluster.ordered_claims().len(), 2, "three CPUs are no longer there");
    assert_ne!(cluster.target_of("a"), Some(first.clone()));
    assert_eq!(cluster.target_of("b"), Some(first), "one still is");
}

#[test]
fn pods_that_changed_places_need_no_new_node() {
    let mut cluster = Cluster::with_pool(|pool| {
        let kind = RequirementEntry::new(INSTANCE_TYPE, Operator::In, ["m-4x"]);
        pool.template.spec.requirements.push(kind);
    });
    for pod in ["a", "b"] {
        cluster.pend(pod, "3");
    }
    cluster.seconds(22);
    assert_eq!(cluster.claims().len(), 2);
    let place = |cluster: &Cluster, pod: &str| {
        let id = cluster.claim(&cluster.target_of(pod).unwrap()).status.provider_id.clone();
        let nodes = cluster.nodes();
        nodes.iter().find(|node| node.provider_id == id).unwrap().meta.name.to_string()
    };
    let of_b = place(&cluster, "b");
    cluster.bind_to("a", &of_b);
    cluster.seconds(3);
    assert_ne!(place(&cluster, "b"), of_b, "it is meant for the other's node now");
    cluster.seconds(60);
    assert_eq!(cluster.ordered_claims().len(), 2);
}

#[test]
fn nobody_is_placed_anew_while_the_scheduler_is_still_binding() {
    let mut cluster = Cluster::with_pool(|pool| {
        let kind = RequirementEntry::new(INSTANCE_TYPE, Operator::In, ["m-8x"]);
        pool.template.spec.requirements.push(kind);
    });
    for number in 0..8 {
        cluster.pend(&format!("small-{number}"), "1");
    }
    cluster.pend("large", "8");
    cluster.seconds(22);
    assert_eq!(cluster.claims().len(), 2);
    let wrong = cluster.target_of("large").unwrap();
    let id = cluster.claim(&wrong).status.provider_id.clone();
    let wrong =
        cluster.nodes().iter().find(|node| node.provider_id == id).unwrap().meta.name.clone();
    for number in 0..6 {
        cluster.bind_to(&format!("small-{number}"), &wrong);
        cluster.wait(Span::from_millis(700));
    }
    assert_eq!(cluster.solves().len(), 1, "the small ones may be about to go elsewhere");
    cluster.seconds(3);
    let (_, solve) = cluster.solves().pop().expect("quiet has come");
    let mut asked: Vec<&str> = solve.pods.iter().map(|pod| pod.name.as_str()).collect();
    asked.sort_unstable();
    assert_eq!(asked, ["large", "small-6", "small-7"]);
    assert_eq!(
        cluster.ordered_claims().len(),
        2,
        "the large one fits where the small ones belonged"
    );
}

#[test]
fn nominated_capacity_is_not_given_away_twice() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.store(Object::Node(plain_node("own")));
    cluster.pend("a", "3");
    cluster.seconds(2);
    assert_eq!(cluster.target_of("a").as_deref(), Some("own"));
    cluster.pend("b", "3");
    cluster.seconds(2);
    assert_eq!(cluster.ordered_claims().len(), 1);
    assert_ne!(cluster.target_of("b").as_deref(), Some("own"));
}

#[test]
fn a_node_that_was_given_a_pod_must_be_left_alone_for_twenty_seconds() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.store(Object::Node(plain_node("own")));
    cluster.pend("a", "3");
    cluster.seconds(1);
    let until = cluster.engine.world().memory.nominated_until["own"];
    assert_eq!(until.since(cluster.now).seconds(), 20);
    cluster.remove(&Key::Node("own".into()));
    cluster.settle();
    assert!(!cluster.engine.world().memory.nominated_until.contains_key("own"));
}

#[test]
fn daemons_take_their_part_of_every_new_node() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.store(daemon_set("agent", "500m"));
    cluster.pend("a", "1800m");
    cluster.seconds(2);
    assert_eq!(allowed(cluster.ordered_claims()[0], INSTANCE_TYPE), ["m-4x", "m-8x"]);
}

#[test]
fn a_node_that_has_just_joined_counts_as_its_claim_says() {
    let mut cluster = Cluster::with_pool(|pool| {
        label(pool, "fast");
        let taint = Taint::new("example.com/starting", "", TaintEffect::NoSchedule);
        pool.template.spec.startup_taints.push(taint);
    });
    cluster.pend("a", "3");
    cluster.seconds(15);
    assert!(!cluster.node().is_ready);
    let mut shape = shape("1");
    shape.placement.node_selector.insert("kind".to_owned(), "fast".to_owned());
    cluster.pend_shape("b", shape);
    cluster.seconds(2);
    assert_eq!(cluster.ordered_claims().len(), 1, "{:?}", cluster.log());
    assert_eq!(cluster.target_of("a"), cluster.target_of("b"));
}

#[test]
fn two_nodes_of_one_answer_have_different_names_and_the_same_answer_the_same() {
    let names = || {
        let mut cluster = Cluster::with_pool(|_| {});
        for number in 0..40 {
            cluster.pend(&format!("pod-{number}"), "7");
        }
        cluster.seconds(2);
        let claims = cluster.ordered_claims();
        claims.iter().map(|claim| claim.spec.name.clone()).collect::<Vec<_>>()
    };
    let (first, again) = (names(), names());
    assert_eq!(first, again);
    let distinct: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), 40);
    let is_letter = |letter: char| "bcdfghjklmnpqrstvwxz2456789".contains(letter);
    assert!(first.iter().all(|name| name["pool-".len()..].chars().all(is_letter)), "{first:?}");
}

/// A cluster whose cloud has one instance reserved.
fn with_reservation() -> Cluster {
    let mut cluster = Cluster::with_pool(|_| {});
    offer_reserved(&mut cluster, 1);
    cluster
}

/// The cloud tells how many instances are left of its reservation.
fn offer_reserved(cluster: &mut Cluster, remaining: u32) {
    let mut types = instances().to_vec();
    let large = types.last_mut().unwrap();
    Arc::make_mut(&mut large.requirements)[2].values.push(RESERVED.to_owned());
    let mut reserved = large.offerings[0].clone();
    let entry = |key: &str, value: &str| RequirementEntry::new(key, Operator::In, [value]);
    let zone = reserved.requirements[0].clone();
    reserved.requirements =
        [zone, entry(CAPACITY_TYPE, RESERVED), entry(RESERVATION, "cr-1")].into();
    large.add_requirement(entry(RESERVATION, "cr-1"));
    reserved.reservation = Some(Reservation { id: "cr-1".to_owned(), remaining });
    reserved.price = Price::from_micros_per_hour(1);
    large.offerings = [reserved].into_iter().chain(large.offerings.iter().cloned()).collect();
    cluster.instance_types.insert("pool".into(), types.into());
    cluster.offer_all();
}

/// How each claim's instance is to be paid for.
fn ways(cluster: &Cluster) -> Vec<Vec<&str>> {
    let claims = cluster.ordered_claims();
    claims.iter().map(|claim| allowed(claim, CAPACITY_TYPE)).collect()
}

#[test]
fn reserved_capacity_that_is_spoken_for_is_not_given_away_twice() {
    let mut cluster = with_reservation();
    without_launches(&mut cluster);
    for pod in ["a", "b"] {
        cluster.pend(pod, "7");
        cluster.seconds(5);
    }
    assert_eq!(ways(&cluster), [[RESERVED], [ON_DEMAND]]);
}

#[test]
fn reserved_capacity_in_use_counts_until_the_cloud_has_counted_it() {
    let mut cluster = with_reservation();
    cluster.pend("a", "7");
    cluster.seconds(60);
    cluster.bind();
    assert_eq!(cluster.nodes().len(), 1, "it is launched and has joined");
    cluster.pend("b", "7");
    cluster.seconds(60);
    assert_eq!(ways(&cluster), [[RESERVED], [ON_DEMAND]], "what was offered is older");
    offer_reserved(&mut cluster, 1);
    cluster.pend("c", "7");
    cluster.seconds(60);
    assert_eq!(ways(&cluster)[2], [RESERVED], "one more, says the cloud, which knows of the first");
}

/// The key under which this test's cloud names reservations.
const RESERVATION: &str = "example.com/reservation";

/// A node that Kerf did not make.
fn plain_node(name: &str) -> Node {
    Node {
        meta: meta(name),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        owner_claim: None,
        provider_id: None,
        taints: Vec::new(),
        capacity: amounts(4),
        allocatable: amounts(4),
        is_ready: true,
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    }
}
