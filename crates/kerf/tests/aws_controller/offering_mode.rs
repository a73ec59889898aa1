//! `--enable-zonal-shift`: pools stay as they are, and so do nodes in the zone.

use kerf_testbed::{ControlPlane, Options};

use crate::aws::{Account, CLUSTER, ZONE_A_ID};
use crate::objects::{TYPES, ZONES, apply, class, pod, pool, zone_of};
use crate::process::{Running, cluster, kerf, wait};

/// What kubectl prints for these objects, one word each.
fn words(control_plane: &ControlPlane, arguments: &[&str]) -> Vec<String> {
    let seen = control_plane.kubectl(arguments).unwrap();
    seen.split_whitespace().map(str::to_owned).collect()
}

/// Pools with an Event of that reason, and what it says.
fn told(control_plane: &ControlPlane, reason: &str) -> Vec<(String, String)> {
    let fields = format!("--field-selector=reason={reason}");
    let path = "--output=jsonpath={range .items[*]}{.involvedObject.name}={.message}{\"\\n\"}{end}";
    let seen = control_plane.kubectl(&["get", "events", &fields, path]).unwrap();
    let pairs = seen.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(pool, message)| (pool.to_owned(), message.to_owned())).collect()
}

fn pools(control_plane: &ControlPlane) -> String {
    let path = "--output=jsonpath={.items[*].spec}{.items[*].metadata.generation}";
    control_plane.kubectl(&["get", "nodepools", path]).unwrap()
}

#[test]
fn a_shifted_zone_gets_no_nodes_and_loses_none_until_the_shift_is_over() {
    let account = Account::open();
    let cluster = cluster(Options::simulated_cluster());
    apply(&cluster, &[class(), pool("all", &ZONES), pool("elsewhere", &ZONES[1..])]);
    let mut command = kerf(&cluster, &account);
    command.args(["controller", "--cloud=kwok", "--enable-zonal-shift"]);
    command.args(["--cluster-name", CLUSTER, "--instance-types-file-path", TYPES]);
    command.args(["--leader-election-namespace=karpenter", "--batch-idle-duration=1s"]);
    let controller = Running::start(command);
    let zone = |pod: &str| zone_of(&cluster, pod);
    let is_in = |pod: &str, letter: &str| zone(pod) == Some(format!("us-east-1{letter}"));

    apply(&cluster, &[pod("cheapest", None)]);
    wait(&cluster, "a node in the cheapest zone", || is_in("cheapest", "a"));
    apply(&cluster, &[pod("in-b", Some("us-east-1b"))]);
    wait(&cluster, "a node in zone b", || is_in("in-b", "b"));
    let pools_before = pools(&cluster);

    let shift = account.shift_away(ZONE_A_ID);
    wait(&cluster, "a pool is told", || !told(&cluster, "ZonalShiftActive").is_empty());
    let words_of_it = "Zonal shift detected: offerings in zone us-east-1a (use1-az6) are \
                       unavailable for this NodePool";
    let expected = [("all".to_owned(), words_of_it.to_owned())];
    assert_eq!(told(&cluster, "ZonalShiftActive"), expected);

    apply(&cluster, &[pod("new", None), pod("needs-a", Some("us-east-1a"))]);
    wait(&cluster, "a node elsewhere", || zone("new").is_some());
    assert!(!is_in("new", "a"), "{:?}", zone("new"));
    assert_eq!(zone("needs-a"), None);
    let claims = words(&cluster, &["get", "nodeclaims", "--output=name"]);
    assert_eq!(claims.len(), 3, "nothing is tried for the pod that waits: {claims:?}");

    cluster.kubectl(&["delete", "pod", "needs-a", "cheapest", "in-b"]).unwrap();
    let zones = || {
        let path = r"--output=jsonpath={.items[*].metadata.labels.topology\.kubernetes\.io/zone}";
        words(&cluster, &["get", "nodes", path])
    };
    let has = |letter: &str| zones().contains(&format!("us-east-1{letter}"));
    let is_held = || {
        let told = told(&cluster, "DisruptionBlocked");
        told.iter().any(|(_, message)| message.contains("us-east-1a (use1-az6)"))
    };
    wait(&cluster, "the empty node in zone a is held back", is_held);
    let elsewhere = zone("new").unwrap();
    wait(&cluster, "the empty node in zone b is gone", || {
        zones() == ["us-east-1a".to_owned(), elsewhere.clone()]
            || zones() == [elsewhere.clone(), "us-east-1a".to_owned()]
    });
    let unfinished = "karpenter_cloudprovider_zonal_shift_duration_count";
    assert!(!controller.metrics().contains(unfinished), "it is counted when it is over");

    account.cancel(&shift);
    wait(&cluster, "the pool is told", || !told(&cluster, "ZonalShiftCleared").is_empty());
    let expected = [(
        "all".to_owned(),
        "Zonal shift cleared: offerings in zone us-east-1a (use1-az6) are restored for this \
         NodePool"
            .to_owned(),
    )];
    assert_eq!(told(&cluster, "ZonalShiftCleared"), expected);
    wait(&cluster, "the empty node in zone a is gone", || !has("a"));
    apply(&cluster, &[pod("again", None)]);
    wait(&cluster, "a node in the cheapest zone again", || is_in("again", "a"));
    let counted =
        r#"karpenter_cloudprovider_zonal_shift_duration_count{zone="us-east-1a",type="manual"} 1"#;
    assert!(controller.counts(counted), "{}", controller.metrics());
    assert_eq!(pools(&cluster), pools_before, "no pool was changed at any time");
    assert!(controller.end());
}
