//! Claims in reserved capacity: what becomes of them when their reservation is gone, or ends.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, class_ref, settings};
use kerf_engine::Settings;
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Key, Object, ResolvedNodeClass};
use kerf_engine::provider::{ManagedNodeClass, ReservationLabels};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ON_DEMAND, RESERVED};

const RESERVATION: &str = "example.com/reservation";
const INTERRUPTIBLE: &str = "example.com/interruptible";

fn reserving() -> Settings {
    let mut settings = settings();
    let more = vec!["example.com/kind".to_owned(), INTERRUPTIBLE.to_owned()];
    let labels = ReservationLabels { id: RESERVATION.to_owned(), more };
    settings.provider.reservation_labels = Some(labels);
    settings.provider.node_classes[0].managed = Some(ManagedNodeClass {
        finalizer: "example.com/termination".to_owned(),
        hash_annotation: "example.com/hash".to_owned(),
        hash_version_annotation: "example.com/hash-version".to_owned(),
        hash_version: "v1".to_owned(),
        conditions: Vec::new(),
        resolve_every: Span::from_minutes(1),
    });
    settings
}

/// One node with a pod, in a reservation: the claim, the node and the cloud say so.
fn one_reserved_node() -> Cluster {
    let mut cluster = Cluster::with_nodes(1, |pool| cluster::budget(pool, "0"));
    let labels = [(CAPACITY_TYPE, RESERVED), (RESERVATION, "cr-1"), (INTERRUPTIBLE, "false")];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let keys: Vec<Key> = cluster.objects.keys().cloned().collect();
    for key in keys {
        cluster.edit(&key, |object| match object {
            Object::Claim(claim) => claim.spec.labels.extend(labels.clone()),
            Object::Node(node) => node.labels.extend(labels.clone()),
            _ => {}
        });
    }
    cluster.instances.values_mut().for_each(|it| it.labels.extend(labels.clone()));
    cluster.restart_with(reserving());
    cluster.seconds(5);
    cluster
}

/// How the claim and the node say they are paid for: capacity type, reservation, interruptible.
fn paid(cluster: &Cluster) -> [[Option<&str>; 3]; 2] {
    let keys = [CAPACITY_TYPE, RESERVATION, INTERRUPTIBLE];
    let claim = cluster.claims()[0];
    let node = cluster.nodes()[0];
    [keys.map(|key| claim.label(key)), keys.map(|key| node.labels.get(key).map(String::as_str))]
}

#[test]
fn a_claim_whose_instance_has_left_its_reservation_is_on_demand_and_so_is_its_node() {
    let mut cluster = one_reserved_node();
    let reserved = [Some(RESERVED), Some("cr-1"), Some("false")];
    cluster.seconds(150);
    assert_eq!(paid(&cluster), [reserved, reserved]);
    for instance in cluster.instances.values_mut() {
        instance.labels.insert(CAPACITY_TYPE.to_owned(), ON_DEMAND.to_owned());
    }
    cluster.seconds(150);
    let on_demand = [Some(ON_DEMAND), None, None];
    assert_eq!(paid(&cluster), [on_demand, on_demand]);
    let writes = cluster.count(|kind| matches!(kind, ActionKind::PatchNode { .. }));
    cluster.seconds(300);
    let later = cluster.count(|kind| matches!(kind, ActionKind::PatchNode { .. }));
    assert_eq!(later, writes, "it is written once");
    for instance in cluster.instances.values_mut() {
        instance.labels.insert(CAPACITY_TYPE.to_owned(), RESERVED.to_owned());
    }
    cluster.seconds(150);
    assert_eq!(paid(&cluster), [on_demand, on_demand], "never the other way");
}

#[test]
fn a_claim_the_cloud_does_not_list_stays_what_it_is() {
    let mut cluster = one_reserved_node();
    cluster.instances.clear();
    cluster.seconds(150);
    assert_eq!(paid(&cluster)[0][0], Some(RESERVED));
}

#[test]
fn claims_leave_a_reservation_before_it_ends_and_others_stay() {
    for (ending, expected) in [("cr-2", 0), ("cr-1", 1)] {
        let mut cluster = one_reserved_node();
        cluster.resolved = ResolvedNodeClass {
            ending_reservations: [ending.to_owned()].into(),
            ..ResolvedNodeClass::default()
        };
        cluster.seconds(70);
        let deletions = cluster.count(|kind| matches!(kind, ActionKind::DeleteClaim { .. }));
        assert_eq!(deletions, expected, "{ending} of {}", class_ref().name);
    }
}
