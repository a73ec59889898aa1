//! Which queue a cluster has.

use crate::account::{Account, I1, I2, I3, router, router_with, spot, state, url, verdicts};

#[test]
fn queues_come_from_the_map_then_the_table_then_the_names() {
    let mut account = Account::with_clusters(&["m", "t", "n", "Karpenter-k"]);
    for (id, cluster) in [(I1, "by-map"), (I2, "by-table"), (I3, "n"), ("i-00000004", "k")] {
        account.own(id, cluster);
    }
    account.table.insert("by-table".to_owned(), url("t"));
    let map = format!(r#"{{"by-map":"{}"}}"#, url("m"));
    let mut router = router_with(&[("CLUSTER_QUEUES", &map), ("CLUSTER_TABLE", "clusters")]);
    let bodies = [I1, I2, I3, "i-00000004"].map(|id| spot(id, id));
    let report = account.route(&mut router, &bodies);
    assert_eq!(verdicts(&report), ["routed"; 4]);
    assert!(account.queues.values().all(|queue| queue.len() == 1), "{:?}", account.queues);
    let asked = account.queries.len();
    let again = [I2, I3].map(|id| spot(&format!("again-{id}"), id));
    account.route(&mut router, &again);
    assert_eq!(account.queries.len(), asked, "URLs are believed for ten minutes");
}

#[test]
fn absence_of_a_queue_is_believed_for_a_minute() {
    let mut account = Account::with_clusters(&[]);
    account.own(I1, "late");
    let mut router = router();
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.insert("late".to_owned(), vec![]);
    account.now_ms += 59_000;
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
    account.now_ms += 2_000;
    let report = account.route(&mut router, &[spot("e3", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn a_queue_that_moved_is_found_again_within_the_batch() {
    let mut account = Account::with_clusters(&["old"]);
    account.own(I1, "a");
    account.table.insert("a".to_owned(), url("old"));
    let mut router = router_with(&[("CLUSTER_TABLE", "clusters")]);
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.clear();
    account.queues.insert("new".to_owned(), vec![]);
    account.table.insert("a".to_owned(), url("new"));
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(account.contents("new").len(), 1);
}

#[test]
fn a_queue_that_was_deleted_makes_its_cluster_one_without_router() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.clear();
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
}

#[test]
fn a_listed_queue_that_does_not_exist_fails_its_messages() {
    let mut account = Account::with_clusters(&[]);
    account.own(I1, "a");
    let map = format!(r#"{{"a":"{}"}}"#, url("gone"));
    let report = account.route(&mut router_with(&[("CLUSTER_QUEUES", &map)]), &[spot("e", I1)]);
    assert_eq!(
        verdicts(&report),
        ["failed: could not send to https://sqs.test/gone: the queue does not exist"]
    );
}

#[test]
fn a_route_may_ask_for_a_tag_and_for_kinds() {
    let mut account = Account::with_clusters(&["pro", "rest"]);
    account.tag(I1, &[("eks:eks-cluster-name", "a"), ("karpenter.sh/nodepool", "default")]);
    account.tag(I2, &[("eks:eks-cluster-name", "a")]);
    account.tag(I3, &[("eks:eks-cluster-name", "a"), ("karpenter.sh/provisioner-name", "old")]);
    let map = format!(
        r#"{{"a":[{{"url":"{}","requireTag":"karpenter.sh/nodepool"}},{{"url":"{}","kinds":["spot","health"]}}]}}"#,
        url("pro"),
        url("rest")
    );
    let mut router = router_with(&[("CLUSTER_QUEUES", &map)]);
    let bodies = [spot("e1", I1), spot("e2", I2), spot("e3", I3), state("e4", I2, "stopped")];
    let report = account.route(&mut router, &bodies);
    assert_eq!(account.contents("pro"), [bodies[0].clone(), bodies[2].clone()]);
    assert_eq!(account.contents("rest"), [bodies[1].clone()]);
    assert_eq!(verdicts(&report)[3], "unrouted: no-route");
}

#[test]
fn a_tag_that_no_queue_can_be_named_after_asks_for_nothing() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "../../a b?");
    let report = account.route(&mut router(), &[spot("e", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
    assert!(account.queries.is_empty());
}

#[test]
fn a_queue_of_the_clusters_name_that_is_not_tagged_as_its_own_gets_nothing() {
    let mut account = Account::with_clusters(&["payments", "Karpenter-k", "k"]);
    account.not_tagged = vec!["payments", "k"];
    account.own(I1, "payments");
    account.own(I2, "k");
    let mut router = router();
    let report = account.route(&mut router, &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(verdicts(&report), ["unrouted: queue-not-tagged", "routed"]);
    assert!(account.contents("payments").is_empty() && account.contents("k").is_empty());
    assert_eq!(account.contents("Karpenter-k").len(), 1, "the next name may be the tagged one");
    let asked = account.queries.len();
    let report = account.route(&mut router, &[spot("e3", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: queue-not-tagged"]);
    assert_eq!(account.queries.len(), asked, "that is believed for a minute");
}
