//! A control plane made of real parts: it starts, answers, keeps to itself and goes away.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use kerf_testbed::{ControlPlane, Error, Options, Part, Shared, User, wait_until};

/// Generous: the machine may be compiling at the same time.
const SETTLED_AT_MOST: Duration = Duration::from_secs(60);

static CLUSTER: Shared = Shared::new(Options::simulated_cluster);

const NODE: &str = "
apiVersion: v1
kind: Node
metadata:
  name: simulated
  annotations: {kwok.x-k8s.io/node: fake}
status:
  allocatable: {cpu: '4', memory: 8Gi, pods: '110'}
  capacity: {cpu: '4', memory: 8Gi, pods: '110'}
";

const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: guest, namespace: default}
spec:
  containers:
  - {name: main, image: never-pulled, resources: {requests: {cpu: '1'}}}
";

#[test]
fn a_node_marked_for_kwok_becomes_ready_and_a_pod_is_bound_to_it_and_runs() {
    let cluster = CLUSTER.get();
    cluster.apply(NODE).unwrap();
    cluster.apply(POD).unwrap();
    let started = Instant::now();

    let ready = "--output=jsonpath={.status.conditions[?(@.type=='Ready')].status}";
    let node_is_ready = || cluster.kubectl(&["get", "node", "simulated", ready]).unwrap() == "True";
    assert!(wait_until(SETTLED_AT_MOST, node_is_ready), "the node did not become ready");

    let where_and_how = "--output=jsonpath={.spec.nodeName} {.status.phase}";
    let mut seen = String::new();
    let runs = wait_until(SETTLED_AT_MOST, || {
        seen = cluster.kubectl(&["get", "pod", "guest", where_and_how]).unwrap();
        seen == "simulated Running"
    });
    assert!(runs, "the pod stayed at {seen:?}");
    println!("node ready and pod running after {} ms", started.elapsed().as_millis());
}

#[test]
fn the_server_says_which_kubernetes_it_is() {
    let version = CLUSTER.get().kubectl(&["get", "--raw=/version"]).unwrap();
    assert!(version.contains("\"gitVersion\": \"v1.36."), "{version}");
}

#[test]
fn the_controllers_work() {
    let cluster = CLUSTER.get();
    cluster.kubectl(&["create", "namespace", "watched"]).unwrap();
    let account = ["get", "serviceaccount", "default", "--namespace=watched"];
    assert!(wait_until(SETTLED_AT_MOST, || cluster.kubectl(&account).is_ok()));
}

#[test]
fn two_control_planes_at_once_do_not_see_each_other() {
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| ControlPlane::start(Options::api_server()).unwrap());
        (ControlPlane::start(Options::api_server()).unwrap(), other.join().unwrap())
    });
    assert_ne!(first.server_url(), second.server_url());

    first.kubectl(&["create", "namespace", "only-in-the-first"]).unwrap();
    let list = ["get", "namespaces", "--output=name"];
    assert!(first.kubectl(&list).unwrap().contains("only-in-the-first"));
    assert!(!second.kubectl(&list).unwrap().contains("only-in-the-first"));

    let strange = format!("--kubeconfig={}", first.kubeconfig().display());
    let server = format!("--server={}", second.server_url());
    assert!(first.kubectl(&[&strange, &server, "get", "namespaces"]).is_err());
}

#[test]
fn a_dropped_control_plane_leaves_no_process_and_no_file() {
    let started = Instant::now();
    let cluster = ControlPlane::start(Options::api_server()).unwrap();
    println!("store and API server ready after {} ms", started.elapsed().as_millis());
    let folder = cluster.kubeconfig().parent().unwrap().to_path_buf();
    let pids = cluster.pids();
    assert_eq!(pids.len(), 4, "two parts and their keepers: {pids:?}");
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");

    let ending = Instant::now();
    drop(cluster);
    println!("ended after {} ms", ending.elapsed().as_millis());

    let left: Vec<_> = pids.into_iter().filter(|pid| is_alive(*pid)).collect();
    assert!(left.is_empty(), "still alive: {left:?}");
    assert!(!folder.exists(), "{} is still there", folder.display());
}

#[test]
fn a_part_that_refuses_its_flags_is_reported_at_once_with_its_own_words() {
    let options = Options::api_server().flag(Part::ApiServer, "--no-such-flag");
    let error = ControlPlane::start(options).unwrap_err();
    assert!(matches!(error, Error::Ended { part: "kube-apiserver", .. }), "{error}");
    assert!(error.to_string().contains("unknown flag: --no-such-flag"), "{error}");
}

#[test]
fn a_server_that_never_gets_its_port_is_reported_after_some_attempts() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = format!("--secure-port={}", taken.local_addr().unwrap().port());
    let options = Options::api_server().flag(Part::ApiServer, port);
    let error = ControlPlane::start(options).unwrap_err();
    // These words make the testbed try another port, which here is the same one again.
    assert!(error.to_string().contains("address already in use"), "{error}");
}

#[test]
fn a_feature_gate_reaches_the_server() {
    let options = Options::api_server().feature_gate("NoSuchGate", true);
    let error = ControlPlane::start(options).unwrap_err();
    assert!(error.to_string().contains("unrecognized feature gate: NoSuchGate"), "{error}");
}

#[test]
fn a_further_user_has_only_the_rights_of_its_groups() {
    let narrow = "system:serviceaccount:kerf:kerf";
    let options = Options::api_server().user(User::new(narrow).in_group("viewers"));
    let cluster = ControlPlane::start(options).unwrap();
    let role = ["create", "clusterrole", "pods", "--verb=list", "--resource=pods"];
    let binding = ["create", "clusterrolebinding", "b", "--clusterrole=pods", "--group=viewers"];
    cluster.kubectl(&role).unwrap();
    cluster.kubectl(&binding).unwrap();

    let list = ["get", "pods", "--namespace=default"];
    // The server learns of a new role through a watch of its own.
    assert!(wait_until(SETTLED_AT_MOST, || cluster.kubectl_as(narrow, &list).is_ok()));
    let refused = cluster.kubectl_as(narrow, &["create", "namespace", "mine"]).unwrap_err();
    assert!(refused.to_string().contains(narrow), "{refused}");
    let unknown = cluster.kubectl_as("nobody", &list).unwrap_err();
    assert!(matches!(unknown, Error::NoUser { .. }), "{unknown}");
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}
