//! Claims become nodes, in the order everybody relies on.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, claim, pool};
use kerf_engine::action::ActionKind;
use kerf_engine::condition::Status;
use kerf_engine::condition::claim::{INITIALIZED, LAUNCHED, REGISTERED};
use kerf_engine::event::{Key, Object};
use kerf_engine::observed::Claim;
use kerf_model::labels::well_known::{
    DO_NOT_SYNC_TAINTS, INITIALIZED as INITIALIZED_LABEL, REGISTERED as REGISTERED_LABEL,
    TERMINATION_FINALIZER, ZONE,
};
use kerf_model::quantity::Quantity;
use kerf_model::taint::{Taint, TaintEffect};

fn with(change: impl FnOnce(&mut Claim)) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.store(Object::Pool(pool("pool")));
    let mut claim = claim("one");
    change(&mut claim);
    cluster.store(Object::Claim(claim));
    cluster
}

fn taint(key: &str) -> Taint {
    Taint::new(key, "", TaintEffect::NoSchedule)
}

/// Status and reason of a condition of the claim.
fn condition(cluster: &Cluster, kind: &str) -> (Status, String) {
    let condition = cluster.claim("one").status.conditions.get(kind).unwrap();
    (condition.status, condition.reason.clone())
}

#[test]
fn a_claim_becomes_a_ready_node_and_goes_without_a_trace() {
    let mut cluster = with(|_| ());
    cluster.seconds(60);
    let conditions = &cluster.claim("one").status.conditions;
    for kind in [LAUNCHED, REGISTERED, INITIALIZED, "Ready"] {
        assert!(conditions.is_true(kind), "{kind}: {conditions:#?}");
    }
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(30);
    assert!(cluster.find_claim("one").is_none(), "{:#?}", cluster.claim("one"));
    assert!(cluster.nodes().is_empty());
    assert!(cluster.instances.is_empty());
    assert_eq!(cluster.counted("karpenter_nodes_created_total", "zone-a"), 1);
    assert_eq!(cluster.counted("karpenter_nodes_drained_total", "pool"), 1);
    assert_eq!(cluster.counted("karpenter_nodes_terminated_total", "zone-a"), 1);
    assert_eq!(cluster.counted("karpenter_nodeclaims_terminated_total", "on-demand"), 1);
}

#[test]
fn a_node_that_joins_is_not_counted_as_a_termination() {
    let runs = |cluster: &Cluster, controller: &str| {
        cluster.counted("controller_runtime_reconcile_total", controller)
    };
    let mut cluster = with(|_| ());
    cluster.seconds(60);
    assert_eq!(runs(&cluster, "node.termination"), 0);
    assert!(runs(&cluster, "node.hydration") > 0);
    cluster.delete(&Key::Claim("one".into()));
    cluster.seconds(30);
    assert!(runs(&cluster, "node.termination") > 0);
}

#[test]
fn a_node_comes_up_step_by_step() {
    let mut cluster = with(|claim| {
        claim.finalizers.clear();
        claim.spec.labels.insert("team".to_owned(), "a".to_owned());
        claim.spec.annotations.insert("note".to_owned(), "b".to_owned());
        claim.spec.node.taints.push(taint("dedicated"));
        claim.spec.node.startup_taints.push(taint("starting"));
    });
    cluster.settle();
    let one = cluster.claim("one");
    assert_eq!(one.finalizers, [TERMINATION_FINALIZER]);
    assert_eq!(condition(&cluster, LAUNCHED).0, Status::True);
    assert_eq!(one.label(ZONE), Some("zone-a"), "the machine's labels are taken over");
    assert_eq!(one.annotations()["example.com/from"], "cloud");
    assert_eq!(condition(&cluster, REGISTERED), (Status::Unknown, "NodeNotFound".to_owned()));

    cluster.seconds(10);
    let node = cluster.node();
    assert_eq!(node.labels[REGISTERED_LABEL], "true");
    assert_eq!(node.labels["team"], "a");
    assert_eq!(node.annotations["note"], "b");
    assert_eq!(node.finalizers, [TERMINATION_FINALIZER]);
    assert_eq!(node.owner_claim.as_deref(), Some("one-uid"));
    assert_eq!(node.taints, [taint("dedicated"), taint("starting")]);
    assert_eq!(condition(&cluster, REGISTERED).0, Status::True);
    assert_eq!(cluster.claim("one").status.node_name.as_deref(), Some("node-one"));
    assert_eq!(condition(&cluster, INITIALIZED), (Status::Unknown, "NodeNotReady".to_owned()));

    cluster.seconds(10);
    let waiting = (Status::Unknown, "StartupTaintsExist".to_owned());
    assert_eq!(condition(&cluster, INITIALIZED), waiting);
    cluster.edit_node(|node| node.taints.retain(|own| own.key != "starting"));
    cluster.settle();
    assert_eq!(cluster.node().labels[INITIALIZED_LABEL], "true");
    assert_eq!(condition(&cluster, INITIALIZED).0, Status::True);
    assert_eq!(cluster.node().taints, [taint("dedicated")], "what was removed stays removed");
    assert_eq!(
        cluster.log().into_iter().filter(|kind| kind.contains("node")).collect::<Vec<_>>(),
        ["patch node", "patch node"],
        "the node was written to twice: when it joined and when it was ready"
    );
}

/// Every write costs the API server more than it costs Kerf, and a fleet comes up all at once.
#[test]
fn a_node_that_is_ready_when_it_joins_takes_one_write_and_its_claim_one_status() {
    let mut cluster = with(|_| ());
    cluster.boots = false;
    cluster.settle();
    let one = cluster.claim("one").clone();
    let mut node =
        cluster::booting_node(&one, &one.status.provider_id.clone().unwrap(), cluster.now);
    node.is_ready = true;
    let before = cluster.log().len();
    cluster.store(Object::Node(node));
    cluster.settle();
    for label in [REGISTERED_LABEL, INITIALIZED_LABEL] {
        assert_eq!(cluster.node().labels[label], "true");
    }
    for kind in [REGISTERED, INITIALIZED, "Ready"] {
        assert_eq!(condition(&cluster, kind).0, Status::True);
    }
    let written = ["patch node", "write claim status", "write pool status"];
    assert_eq!(cluster.log().split_off(before), written);
}

#[test]
fn a_claim_has_no_status_while_its_first_launch_is_under_way() {
    let mut cluster = with(|_| ());
    cluster.ignores = |kind| matches!(kind, ActionKind::Launch(_));
    cluster.seconds(5);
    let writes = cluster.count(|kind| matches!(kind, ActionKind::WriteClaimStatus { .. }));
    assert_eq!(writes, 0, "{:?}", cluster.log());
}

#[test]
fn a_node_is_not_ready_for_pods_while_something_is_missing() {
    type Lack = fn(&mut kerf_engine::observed::Node);
    let lacks: [(&str, Lack); 3] = [
        ("KnownEphemeralTaintsExist", |node| {
            node.taints.push(taint("node.cloudprovider.kubernetes.io/uninitialized"));
        }),
        ("ResourceNotRegistered", |node| {
            node.allocatable.insert("cpu", Quantity::ZERO);
        }),
        ("NodeNotReady", |node| node.is_ready = false),
    ];
    for (reason, lack) in lacks {
        let mut cluster = with(|_| ());
        cluster.seconds(10);
        cluster.booting.clear();
        cluster.edit_node(|node| {
            node.is_ready = true;
            lack(node);
        });
        cluster.seconds(3_600);
        assert_eq!(condition(&cluster, INITIALIZED), (Status::Unknown, reason.to_owned()));
        assert!(!cluster.node().labels.contains_key(INITIALIZED_LABEL), "{reason}");
    }
}

#[test]
fn a_node_that_keeps_its_own_taints_gets_none_of_its_claim() {
    let mut cluster = with(|claim| claim.spec.node.taints.push(taint("dedicated")));
    cluster.boots = false;
    cluster.settle();
    let id = cluster.claim("one").status.provider_id.clone().unwrap();
    let mut node = cluster::booting_node(&claim("one"), &id, cluster.now);
    node.labels.insert(DO_NOT_SYNC_TAINTS.to_owned(), "true".to_owned());
    cluster.store(Object::Node(node));
    cluster.settle();
    assert_eq!(cluster.node().taints, [], "only the unregistered taint is taken off");
    assert_eq!(condition(&cluster, REGISTERED).0, Status::True);
}

#[test]
fn a_node_without_the_unregistered_taint_joins_with_a_warning() {
    let mut cluster = with(|_| ());
    cluster.boots = false;
    cluster.settle();
    let id = cluster.claim("one").status.provider_id.clone().unwrap();
    let mut node = cluster::booting_node(&claim("one"), &id, cluster.now);
    node.taints.clear();
    cluster.store(Object::Node(node));
    cluster.settle();
    assert!(cluster.has_said("UnregisteredTaintMissing"));
    assert_eq!(condition(&cluster, REGISTERED).0, Status::True);
}

#[test]
fn two_nodes_on_one_machine_are_a_fault_and_neither_is_touched() {
    let mut cluster = with(|_| ());
    cluster.boots = false;
    cluster.settle();
    let id = cluster.claim("one").status.provider_id.clone().unwrap();
    for name in ["one", "two"] {
        cluster.store(Object::Node(cluster::booting_node(&claim(name), &id, cluster.now)));
    }
    cluster.settle();
    let fault = (Status::False, "MultipleNodesFound".to_owned());
    assert_eq!(condition(&cluster, REGISTERED), fault);
    assert_eq!(cluster.count(|kind| matches!(kind, ActionKind::PatchNode { .. })), 0);
}

#[test]
fn claims_and_nodes_of_old_get_the_label_of_their_node_class() {
    let mut cluster = with(|claim| {
        claim.spec.labels.remove("karpenter.kwok.sh/kwoknodeclass");
    });
    cluster.seconds(30);
    assert_eq!(cluster.claim("one").label("karpenter.kwok.sh/kwoknodeclass"), Some("default"));
    cluster.edit_node(|node| drop(node.labels.remove("karpenter.kwok.sh/kwoknodeclass")));
    cluster.settle();
    assert_eq!(cluster.node().labels["karpenter.kwok.sh/kwoknodeclass"], "default");
}

#[test]
fn claims_of_other_clouds_are_left_alone() {
    let mut cluster = with(|claim| claim.spec.node.node_class.kind = "Other".to_owned());
    cluster.seconds(3_600);
    let touched =
        cluster.count(|kind| matches!(kind, ActionKind::Launch(_) | ActionKind::PatchClaim { .. }));
    assert_eq!(touched, 0, "{:?}", cluster.log());
}

#[test]
fn a_ready_node_is_left_in_peace() {
    let mut cluster = with(|_| ());
    cluster.seconds(60);
    let before = cluster.actions.len();
    cluster.seconds(3_600);
    let later = &cluster.actions[before..];
    assert!(
        later.iter().all(|(_, action)| matches!(action.kind, ActionKind::ListInstances)),
        "{later:#?}"
    );
}
