//! Zones the cluster is shifted away from: what stands there stays, what has to go waits for its
//! instance's end, and pools that reach the zone are messages.
#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, quick, ready_pool};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key};
use kerf_engine::observed::ShiftedZone;
use kerf_engine::sample::Sample;
use kerf_engine::time::{Span, Time};
use kerf_model::duration::NillableDuration;
use kerf_model::labels::aws::ZONE_ID;
use kerf_model::labels::well_known::ZONE;
use kerf_model::pool::NodePool;
use kerf_model::requirement::{Operator, RequirementEntry};

/// Quiet for 30 s, found within 10 s, looked at again after 15 s, carried out; and then some.
const ENOUGH: u64 = 180;
const DURATION: &str = "karpenter_cloudprovider_zonal_shift_duration";

fn shifted(letter: &str, since: Time) -> ShiftedZone {
    ShiftedZone {
        name: format!("zone-{letter}").into(),
        id: format!("az-{letter}").into(),
        origin: "manual".into(),
        since,
    }
}

fn shift(cluster: &mut Cluster, letters: &[&str]) {
    let zones = letters.iter().map(|letter| shifted(letter, cluster::START)).collect();
    cluster.undelivered.push_back(Event::Shifted(zones));
}

/// A node in zone a, which says so.
fn one_node(change: impl FnOnce(&mut NodePool)) -> Cluster {
    let mut cluster = Cluster::with_nodes(1, |pool| {
        quick(pool);
        change(pool);
    });
    cluster.edit_node(|node| {
        node.labels.insert(ZONE.to_owned(), "zone-a".to_owned());
    });
    cluster
}

fn ends_instances(cluster: &Cluster) -> usize {
    cluster.count(|kind| matches!(kind, ActionKind::Terminate { .. }))
}

#[test]
fn an_empty_node_in_a_shifted_zone_stays_until_that_is_over() {
    let mut cluster = one_node(|_| {});
    shift(&mut cluster, &["a"]);
    cluster.empty_nodes(1);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.nodes().len(), 1, "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty());
    let messages = cluster.messages("DisruptionBlocked");
    assert!(
        messages.iter().all(|event| event.contains("zone-a (az-a)")) && !messages.is_empty(),
        "{messages:?}"
    );
    shift(&mut cluster, &[]);
    cluster.seconds(ENOUGH);
    assert!(cluster.nodes().is_empty() && cluster.claims().is_empty(), "{:?}", cluster.log());
}

#[test]
fn an_empty_node_in_another_zone_goes_as_ever() {
    let mut cluster = one_node(|_| {});
    shift(&mut cluster, &["b"]);
    cluster.empty_nodes(1);
    cluster.seconds(ENOUGH);
    assert!(cluster.nodes().is_empty(), "{:?}", cluster.log());
}

#[test]
fn a_node_chosen_before_the_shift_is_spared_after_it() {
    let mut cluster = one_node(|_| {});
    cluster.empty_nodes(1);
    while cluster.engine.world().memory.commands.proposed().next().is_none() {
        cluster.wait(Span::from_millis(100));
    }
    shift(&mut cluster, &["a"]);
    cluster.seconds(ENOUGH);
    assert_eq!(cluster.nodes().len(), 1, "{:?}", cluster.log());
    assert!(cluster.closed_nodes().is_empty());
}

/// Age limits are no choice of Kerf's: they are kept, up to the call about the instance.
#[test]
fn a_node_at_its_age_limit_is_emptied_and_its_machine_ends_when_the_shift_does() {
    let mut cluster = one_node(|pool| {
        pool.template.spec.expire_after = NillableDuration::parse("5m").unwrap();
    });
    shift(&mut cluster, &["a"]);
    cluster.seconds(600);
    let node = cluster.nodes().into_iter().find(|node| node.labels.contains_key(ZONE)).unwrap();
    assert!(node.meta.is_deleting(), "the claim was deleted: {:?}", cluster.log());
    assert_eq!(ends_instances(&cluster), 0, "no call is made about it");
    assert!(cluster.has_said("AwaitingZonalShift"));
    shift(&mut cluster, &[]);
    cluster.seconds(60);
    assert!(ends_instances(&cluster) > 0);
    assert!(cluster.nodes().iter().all(|node| !node.meta.is_deleting()), "{:?}", cluster.log());
}

#[test]
fn a_machine_that_is_not_listed_while_its_zone_is_shifted_is_not_taken_for_gone() {
    for (letters, is_kept) in [(vec!["a"], true), (vec![], false)] {
        let mut cluster = one_node(|_| {});
        let claim = cluster.claims()[0].meta.name.clone();
        cluster.edit(&Key::Claim(claim.clone()), |object| match object {
            kerf_engine::event::Object::Claim(claim) => {
                claim.spec.labels.insert(ZONE.to_owned(), "zone-a".to_owned());
            }
            _ => unreachable!("a claim's key names a claim"),
        });
        shift(&mut cluster, &letters);
        cluster.instances.clear();
        cluster.edit_node(|node| node.is_ready = false);
        cluster.seconds(300);
        let is_there = cluster.find_claim(&claim).is_some_and(|claim| !claim.meta.is_deleting());
        assert_eq!(is_there, is_kept, "{letters:?}: {:?}", cluster.log());
    }
}

#[test]
fn pools_that_reach_the_zone_by_name_and_id_are_told_once_and_again_when_it_is_over() {
    let entry = |key: &str, operator, value: &str| RequirementEntry::new(key, operator, [value]);
    let pools = [
        ("anywhere", None, true),
        ("in-a", Some(entry(ZONE, Operator::In, "zone-a")), true),
        ("in-b", Some(entry(ZONE, Operator::In, "zone-b")), false),
        ("not-in-a", Some(entry(ZONE, Operator::NotIn, "zone-a")), false),
        ("by-id", Some(entry(ZONE_ID, Operator::In, "az-a")), true),
        ("by-other-id", Some(entry(ZONE_ID, Operator::In, "az-b")), false),
    ];
    let mut cluster = Cluster::new();
    let make = |name: &str, requirement: Option<RequirementEntry>| {
        ready_pool(name, |pool| pool.template.spec.requirements.extend(requirement))
    };
    for (name, requirement, _) in &pools {
        cluster.add_pool(make(name, requirement.clone()));
    }
    shift(&mut cluster, &["a"]);
    cluster.seconds(1);
    shift(&mut cluster, &["a"]);
    cluster.seconds(600);
    let pools_of = |cluster: &Cluster, reason: &str| -> Vec<String> {
        let events = cluster.kubernetes_events.iter().filter(|event| event.reason == reason);
        let names = events.map(|event| match &event.about {
            Key::Pool(name) => name.to_string(),
            other => panic!("{other:?}"),
        });
        names.collect()
    };
    let reaching: Vec<_> =
        pools.iter().filter(|pool| pool.2).map(|pool| pool.0.to_owned()).collect();
    let mut expected = reaching.clone();
    expected.sort();
    assert_eq!(pools_of(&cluster, "ZonalShiftActive"), expected);
    assert_eq!(
        cluster.messages("ZonalShiftActive")[0],
        "Zonal shift detected: offerings in zone zone-a (az-a) are unavailable for this NodePool"
    );

    cluster.add_pool(make("late", None));
    cluster.seconds(1);
    expected.push("late".to_owned());
    assert_eq!(
        pools_of(&cluster, "ZonalShiftActive"),
        expected,
        "a pool made meanwhile is messages, too"
    );
    assert!(pools_of(&cluster, "ZonalShiftCleared").is_empty());

    shift(&mut cluster, &[]);
    cluster.seconds(1);
    expected.sort();
    assert_eq!(pools_of(&cluster, "ZonalShiftCleared"), expected);
    assert_eq!(
        cluster.messages("ZonalShiftCleared")[0],
        "Zonal shift cleared: offerings in zone zone-a (az-a) are restored for this NodePool"
    );
}

#[test]
fn how_long_a_shift_lasted_is_counted_when_it_is_over() {
    let mut cluster = Cluster::with_pool(|_| {});
    cluster.seconds(1);
    shift(&mut cluster, &["a", "b"]);
    cluster.seconds(899);
    shift(&mut cluster, &["b"]);
    cluster.seconds(1);
    let took: Vec<_> = cluster
        .samples
        .iter()
        .filter_map(|sample| match sample {
            Sample::Took { metric, labels, span } if *metric == DURATION => Some((labels, *span)),
            _ => None,
        })
        .collect();
    let labels = vec![("zone", "zone-a".to_owned()), ("type", "manual".to_owned())];
    assert_eq!(took, [(&labels, Span::from_seconds(900))]);
}
