//! `--enable-zonal-autoshift`: what `kerf zonal-autoshift` does, inside the controller, and the
//! daemon beside it.

use kerf_testbed::{ControlPlane, Options};
use serde_json::{Value, json};

use crate::aws::{Account, CLUSTER, ZONE_A_ID};
use crate::objects::{
    TYPES, ZONES, apply, class, deployment, pod, pool, ready, zone_of, zones_in_use,
};
use crate::process::{Running, cluster, kerf, said, wait};

const ACTIVE: &str =
    r#"kerf_zonal_shift_active{zone="us-east-1a",zone_id="use1-az6",origin="practice"} 1"#;

pub(crate) fn announcement(number: u32, detail_type: &str) -> Value {
    let time = jiff::Timestamp::now().as_second();
    let time = jiff::Timestamp::from_second(time).unwrap().to_string();
    json!({
        "version": "0", "id": format!("event-{number}"), "detail-type": detail_type,
        "source": "aws.arc-zonal-shift", "account": "123456789012", "time": time,
        "region": "us-east-1", "resources": [],
        "detail": {"version": "0.0.1", "data": "", "metadata": {"awayFrom": ZONE_A_ID}},
    })
}

pub(crate) fn zones(control_plane: &ControlPlane) -> String {
    let path = "--output=jsonpath={.spec.template.spec.requirements[0].values}";
    control_plane.kubectl(&["get", "nodepool", "web", path]).unwrap()
}

fn start(control_plane: &ControlPlane, account: &Account, queue_url: &str) -> Running {
    let mut command = kerf(control_plane, account);
    command.args(["controller", "--cloud=kwok", "--enable-zonal-autoshift"]);
    command.args(["--leader-election-namespace=karpenter", "--instance-types-file-path", TYPES]);
    command.env("CLUSTER_NAME", CLUSTER).env("SQS_QUEUE_URL", queue_url);
    Running::start(command)
}

#[test]
fn the_leading_controller_keeps_pools_out_of_a_zone_and_its_successor_gives_it_back() {
    let account = Account::open();
    let queue_url = account.queue("demo-zonal-shift");
    let cluster = cluster(Options::simulated_cluster());
    apply(&cluster, &[class(), pool("web", &ZONES)]);
    let (all, left) =
        (r#"["us-east-1a","us-east-1b","us-east-1c"]"#, r#"["us-east-1b","us-east-1c"]"#);

    let first = start(&cluster, &account, &queue_url);
    wait(&cluster, "it acts", || first.counts("kerf_zonal_shift_leading 1"));
    let second = start(&cluster, &account, &queue_url);
    wait(&cluster, "it waits", || second.counts("kerf_zonal_shift_leading 0"));

    let practice = account.practise(ZONE_A_ID);
    account.send(&queue_url, &announcement(1, "Practice Run Started"));
    wait(&cluster, "the pool is kept out", || zones(&cluster) == left);
    wait(&cluster, "the metric says so", || first.counts(ACTIVE));
    assert!(first.metrics().contains("karpenter_cluster_state_synced"), "beside its own");
    assert!(!second.counts(ACTIVE), "only the leader acts");

    apply(&cluster, &[pod("new", None)]);
    wait(&cluster, "a node for a pod", || zone_of(&cluster, "new").is_some());
    assert_ne!(zone_of(&cluster, "new").unwrap(), ZONES[0], "the cheapest zone is avoided");

    let status = ["zonal-shift", "status", "--namespace=karpenter"];
    let (table, note) = said(kerf(&cluster, &account).args(status));
    assert!(table.contains("us-east-1a  use1-az6  practice"), "{table}");
    assert_eq!(note, "", "somebody acts");

    assert!(first.end(), "it ends in good order");
    wait(&cluster, "the other acts", || second.counts("kerf_zonal_shift_leading 1"));
    assert_eq!(zones(&cluster), left, "what is stored holds");
    account.cancel(&practice);
    account.send(&queue_url, &announcement(2, "Practice Run Succeeded"));
    wait(&cluster, "the pool is given back", || zones(&cluster) == all);
    apply(&cluster, &[pod("next", None)]);
    wait(&cluster, "a node for a pod", || zone_of(&cluster, "next").is_some());
    assert_eq!(zone_of(&cluster, "next").unwrap(), ZONES[0], "the cheapest zone is used again");
    assert!(second.end());
}

#[test]
fn nodes_of_the_zone_are_replaced_elsewhere_by_drift_and_everything_is_put_back() {
    let account = Account::open();
    let queue_url = account.queue("demo-zonal-shift");
    let cluster = cluster(Options::simulated_cluster());
    let controller = start(&cluster, &account, &queue_url);
    apply(&cluster, &[class(), pool("web", &ZONES), deployment("shop", 3)]);
    wait(&cluster, "the pods run", || ready(&cluster, "shop") == "3");
    assert_eq!(zones_in_use(&cluster), [ZONES[0]], "the cheapest zone is used");

    let practice = account.practise(ZONE_A_ID);
    account.send(&queue_url, &announcement(1, "Practice Run Started"));
    wait(&cluster, "all nodes and pods are elsewhere", || {
        let zones = zones_in_use(&cluster);
        !zones.is_empty() && !zones.contains(&ZONES[0].to_owned()) && ready(&cluster, "shop") == "3"
    });
    let claims = || cluster.kubectl(&["get", "nodeclaims", "--output=name"]).unwrap();
    let elsewhere = claims();

    account.cancel(&practice);
    account.send(&queue_url, &announcement(2, "Practice Run Succeeded"));
    let all = r#"["us-east-1a","us-east-1b","us-east-1c"]"#;
    wait(&cluster, "the pool is given back", || zones(&cluster) == all);
    let annotations = "--output=jsonpath={.metadata.annotations}";
    let stands = cluster.kubectl(&["get", "nodepool", "web", annotations]).unwrap();
    assert!(!stands.contains("zonal-autoshift"), "{stands}");
    apply(&cluster, &[pod("next", Some(ZONES[0]))]);
    wait(&cluster, "the zone is used again", || zone_of(&cluster, "next").is_some());
    assert!(claims().contains(elsewhere.trim()), "what moved stays: {elsewhere} {}", claims());
    assert!(controller.end());
}

#[test]
fn the_daemon_alone_keeps_pools_out_of_a_zone_and_leaves_the_lease_to_a_controller() {
    let account = Account::open();
    let queue_url = account.queue("demo-zonal-shift");
    let cluster = cluster(Options::simulated_cluster());
    apply(&cluster, &[class(), pool("web", &ZONES)]);
    let mut command = kerf(&cluster, &account);
    command.args(["zonal-autoshift", "--namespace=karpenter"]);
    command.env("CLUSTER_NAME", CLUSTER).env("SQS_QUEUE_URL", &queue_url);
    let daemon = Running::start_daemon(command);
    wait(&cluster, "it acts", || daemon.counts("kerf_zonal_shift_leading 1"));
    let controller = start(&cluster, &account, &queue_url);
    wait(&cluster, "the controller works", || controller.is_ready());
    assert!(controller.counts("kerf_zonal_shift_leading 0"), "one of them acts");

    let practice = account.practise(ZONE_A_ID);
    account.send(&queue_url, &announcement(1, "Practice Run Started"));
    let left = r#"["us-east-1b","us-east-1c"]"#;
    wait(&cluster, "the pool is kept out", || zones(&cluster) == left);
    wait(&cluster, "the metric says so", || daemon.counts(ACTIVE));
    assert!(daemon.healthz().contains("200 OK"), "{}", daemon.healthz());
    assert!(!daemon.metrics().contains("karpenter_nodes_"), "nodes are the controller's to show");

    assert!(daemon.end(), "it ends in good order");
    wait(&cluster, "the controller acts", || controller.counts("kerf_zonal_shift_leading 1"));
    account.cancel(&practice);
    account.send(&queue_url, &announcement(2, "Practice Run Succeeded"));
    let all = r#"["us-east-1a","us-east-1b","us-east-1c"]"#;
    wait(&cluster, "the pool is given back", || zones(&cluster) == all);
    assert!(controller.end());
}

#[test]
fn what_is_missing_stops_the_start_with_the_next_command() {
    let account = Account::open();
    let cluster = cluster(Options::api_server());
    let mut command = kerf(&cluster, &account);
    command.args(["controller", "--cloud=kwok", "--enable-zonal-autoshift"]);
    let (_, message) = said(command.env("CLUSTER_NAME", CLUSTER));
    assert!(message.contains("aws sqs get-queue-url --queue-name demo-zonal-shift"), "{message}");
}
