//! A missing permission is logged once, with what to grant; the rest keeps working.

use kerf_testbed::{Fault, FaultRule};

use crate::answers::{AUTOSHIFTS, CLUSTER, MANAGED, SHIFTS};
use crate::daemon::{Running, settings};
use crate::objects::{arm, pool, zones};
use crate::place::{ACCOUNT, ARN, Place, READER};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_right_to_change_pools_one_message_says_so_however_often_it_is_tried() {
    let place = Place::with(&[
        pool("one", &[zones("In", &["a", "b"])]),
        pool("two", &[zones("In", &["a", "b"])]),
    ])
    .await;
    let daemon = Running::start_as(&place, READER, settings()).await.leading();
    place.announce("Autoshift In Progress", "a").await;
    let refused = async || daemon.get("/healthz").await.contains("changing pools");
    place.wait("it is shown", refused).await;
    for _ in 0..3 {
        place.pass(10);
        let look_at = place.now();
        let page = async || daemon.get("/metrics").await;
        assert!(page().await.contains("kerf_zonal_shift_complaints_total 1"), "{look_at}");
    }
    let page = daemon.get("/healthz").await;
    assert!(page.contains("200 OK"), "a restart would not help: {page}");
    for part in ["nodepools.karpenter.sh", "cannot patch", "apply deploy/zonal-autoshift.yaml"] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    // The rest works: the state is kept and shown, the message is gone.
    place.wait_until_deleted().await;
    assert!(daemon.get("/metrics").await.contains(r#"kerf_zonal_shift_active{zone="us-west-2a""#));
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_arc_shifts_end_by_age_and_each_missing_action_is_named() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b", "c"])])]).await;
    let before = place.snapshot("web").await;
    for path in [MANAGED, SHIFTS, AUTOSHIFTS] {
        place.answers.deny(path);
    }
    let daemon = Running::start(&place).await;
    place.announce("Practice Run Started", "a").await;
    place.wait_for_requirements("web", &[zones("In", &["b", "c"])]).await;
    let page = daemon.get("/healthz").await;
    assert!(page.contains("200 OK"), "{page}");
    for action in ["GetManagedResource", "ListZonalShifts", "ListAutoshifts"] {
        assert!(page.contains(&format!("arc-zonal-shift:{action}")), "{page}");
    }
    assert!(page.contains(ARN), "{page}");
    assert!(daemon.counts("kerf_zonal_shift_complaints_total 3").await);
    place.pass(3600);
    place.wait("it is as before", async || place.snapshot("web").await == before).await;
    assert!(daemon.counts("kerf_zonal_shift_complaints_total 3").await);
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_descriptions_of_the_cluster_pools_that_name_zones_are_still_kept_out() {
    let place =
        Place::with(&[pool("named", &[zones("In", &["a", "b", "c"])]), pool("open", &[arm()])])
            .await;
    place.answers.deny(CLUSTER);
    let daemon = Running::start(&place).await;
    place.announce("Autoshift In Progress", "a").await;
    place.wait_for_requirements("named", &[zones("In", &["b", "c"])]).await;
    let is_recorded = async || !place.events("open", "ZonalShiftSkipped").await.is_empty();
    place.wait("an Event says why the open pool is not", is_recorded).await;
    assert!(daemon.get("/healthz").await.contains("eks:DescribeCluster on prod"));
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_refuses_is_recorded_and_read_once_it_allows() {
    let place = Place::with(&[pool("web", &[zones("In", &["a", "b"])])]).await;
    place.proxy.set_rules(vec![FaultRule {
        contains: "ReceiveMessage".to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault: Fault::Deny,
    }]);
    let daemon = Running::start(&place).await;
    place.announce("Autoshift In Progress", "a").await;
    let refused = async || daemon.get("/healthz").await.contains("sqs:ReceiveMessage");
    place.wait("the action and the queue are named", refused).await;
    assert!(daemon.get("/healthz").await.contains(&place.queue_url));
    place.proxy.set_rules(vec![]);
    place.wait_for_requirements("web", &[zones("In", &["b"])]).await;
    assert!(daemon.get("/healthz").await.ends_with("\r\n\r\nok\n"));
    daemon.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_role_of_the_manifest_allows_what_is_needed_and_no_more() {
    let place = Place::new().await;
    let may = |verb: &str, what: &str| {
        let asked = ["auth", "can-i", verb, what, "--namespace=default"];
        place.control_plane.kubectl_as(ACCOUNT, &asked).is_ok_and(|said| said.starts_with("yes"))
    };
    let allowed = [
        ("patch", "nodepools.karpenter.sh"),
        ("patch", "nodes"),
        ("patch", "configmaps/kerf-zonal-shift"),
        ("update", "leases.coordination.k8s.io/karpenter-sqs-subscriber-leader"),
        ("create", "events"),
    ];
    for (verb, what) in allowed {
        assert!(may(verb, what), "{verb} {what}");
    }
    let refused = [
        ("delete", "nodes"),
        ("patch", "configmaps/another"),
        ("get", "secrets"),
        ("list", "pods"),
        ("delete", "nodeclaims.karpenter.sh"),
        ("patch", "ec2nodeclasses.karpenter.k8s.aws"),
    ];
    for (verb, what) in refused {
        assert!(!may(verb, what), "{verb} {what}");
    }
}
