//! What goes in which order, and what is refused.

use std::collections::BTreeMap;

use clap::Parser;
use kerf_aws::{Association, StackFacts};
use serde_json::{Value, json};

use super::Uninstall;
use super::facts::{Account, Facts};
use super::plan::{Step, left, notes, refusals, steps};
use crate::commands::doctor::Facts as InCluster;

const NOW: i64 = 1_800_000_000;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    uninstall: Uninstall,
}

fn asked(arguments: &[&str]) -> Uninstall {
    let line = [&["kerf", "--cluster=tidepool"], arguments].concat();
    Cli::try_parse_from(line).unwrap().uninstall
}

fn deployment() -> Value {
    let container = json!({"command": ["kerf", "controller"]});
    json!({
        "metadata": {"name": "karpenter", "namespace": "karpenter"},
        "spec": {
            "selector": {"matchLabels": {"app": "karpenter"}},
            "template": {"spec": {"containers": [container]}},
        },
        "status": {"readyReplicas": 2},
    })
}

/// A pool with a node, on which a pod runs; the controller leads.
fn installed() -> Facts {
    let named = |name: &str| json!({"metadata": {"name": name}});
    let held = |name: &str| json!({"metadata": {"name": name, "finalizers": ["of/a-controller"]}});
    let lease = json!({"metadata": {"name": "karpenter-leader-election"}, "spec": {
        "holderIdentity": "one", "leaseDurationSeconds": 15, "renewTime": "2027-01-15T07:59:50Z",
    }});
    let labels = json!({"karpenter.sh/nodepool": "default"});
    let node = json!({"metadata": {"name": "node-a", "labels": labels,
        "finalizers": ["karpenter.sh/termination"]}});
    let pod = json!({"metadata": {"name": "web", "namespace": "default"},
        "spec": {"nodeName": "node-a"}, "status": {"phase": "Running"}});
    let own = kerf_api::crds();
    let definitions = own.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
    let lists = BTreeMap::from([
        ("pods", Ok(vec![pod])),
        ("nodes", Ok(vec![node, named("system-a")])),
        ("deployments", Ok(vec![deployment()])),
        ("leases", Ok(vec![lease])),
        ("customresourcedefinitions", Ok(definitions)),
        ("nodepools", Ok(vec![named("default")])),
        ("nodeclaims", Ok(vec![held("default-1")])),
        ("ec2nodeclasses", Ok(vec![held("default")])),
    ]);
    let in_cluster = InCluster {
        now_seconds: NOW,
        namespace: "karpenter".to_owned(),
        version: Ok("v1.36.3".to_owned()),
        lists,
        account: None,
    };
    let account = Account {
        endpoint: "https://tide.example".to_owned(),
        stack: Some(StackFacts { status: "CREATE_COMPLETE".to_owned(), ..StackFacts::default() }),
        association: Some(Association { id: "a-1".to_owned(), role_arn: "arn".to_owned() }),
        node_role_arn: Some("arn:aws:iam::1:role/KarpenterNodeRole-tidepool".to_owned()),
        launch_templates: vec!["karpenter.k8s.aws/1".to_owned()],
        profiles: Vec::new(),
    };
    let objects =
        vec![json!({"kind": "Deployment", "metadata": {"name": "karpenter", "namespace": "x"}})];
    let server = "https://tide.example/".to_owned();
    Facts { server, in_cluster, objects, account: Some(account) }
}

fn put(facts: &mut Facts, kind: &'static str, objects: Vec<Value>) {
    facts.in_cluster.lists.insert(kind, Ok(objects));
}

fn refused(arguments: &[&str], facts: &Facts) -> Vec<String> {
    refusals(&asked(arguments), facts).into_iter().map(|one| one.what).collect()
}

#[test]
fn nodes_go_while_there_is_a_controller_and_the_stack_goes_last() {
    let facts = installed();
    assert_eq!(refused(&[], &facts), [""; 0]);
    let kinds = |arguments: &[&str]| -> Vec<String> {
        let steps = steps(&asked(arguments), &facts);
        let first = |step: &Step| format!("{step:?}").split_once(' ').unwrap().0.to_owned();
        steps.iter().map(first).collect()
    };
    let in_account = ["Association", "AccessEntry", "Leftovers", "Stack"];
    assert_eq!(kinds(&[])[..3], ["Nodes", "Classes", "Objects"]);
    assert_eq!(kinds(&[])[3..], in_account);
    assert_eq!(kinds(&["--delete-crds"])[2..4], ["Objects", "Definitions"]);
    let kept = Facts { account: None, ..installed() };
    assert_eq!(steps(&asked(&["--keep-account"]), &kept).len(), 3);
    let text = steps(&asked(&[]), &facts)[0].text();
    assert!(text.contains("1 nodes are drained and their instances end; 1 pods move"), "{text}");
}

#[test]
fn a_release_of_helm_is_uninstalled_by_helm() {
    let mut facts = installed();
    let mut of_helm = deployment();
    of_helm["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "karp"});
    put(&mut facts, "deployments", vec![of_helm]);
    let text = steps(&asked(&[]), &facts)[2].text();
    assert_eq!(text, "run     helm uninstall karp --namespace karpenter --wait");
}

#[test]
fn nothing_is_to_be_done_where_nothing_is_left() {
    let mut facts = installed();
    for kind in ["deployments", "nodepools", "nodeclaims", "ec2nodeclasses", "leases"] {
        put(&mut facts, kind, Vec::new());
    }
    put(&mut facts, "nodes", vec![json!({"metadata": {"name": "system-a"}})]);
    facts.objects.clear();
    let endpoint = "https://tide.example".to_owned();
    facts.account = Some(Account { endpoint, ..Account::default() });
    assert_eq!(refused(&[], &facts), [""; 0]);
    assert_eq!(steps(&asked(&[]), &facts), []);
}

#[test]
fn finalizers_that_nobody_takes_off_are_a_reason_to_refuse_that_no_force_overrules() {
    let mut facts = installed();
    put(&mut facts, "leases", Vec::new());
    let why = refused(&["--force"], &facts);
    assert!(
        why[0].contains("1 NodeClaims, 1 nodes and 1 EC2NodeClasses have a finalizer"),
        "{why:?}"
    );
    put(&mut facts, "deployments", Vec::new());
    let why = refused(&["--force"], &facts);
    assert!(why[0].contains("no deployment runs"), "{why:?}");
    for kind in ["nodeclaims", "ec2nodeclasses", "nodes"] {
        put(&mut facts, kind, Vec::new());
    }
    assert_eq!(refused(&[], &facts), [""; 0], "pools have none");
}

#[test]
fn what_would_hurt_is_refused_unless_forced() {
    let elsewhere: fn(&mut Facts) = |it| it.server = "https://other.example".to_owned();
    let unknown: fn(&mut Facts) = |it| it.account.as_mut().unwrap().endpoint = String::new();
    let karpenter: fn(&mut Facts) = |it| {
        let mut other = deployment();
        other["spec"]["template"]["spec"]["containers"] =
            json!([{"image": "public.ecr.aws/karpenter/controller:1.14.0"}]);
        put(it, "deployments", vec![other]);
    };
    let own_node: fn(&mut Facts) = |it| {
        let labels = json!({"app": "karpenter"});
        let pod = json!({"metadata": {"name": "one", "namespace": "karpenter", "labels": labels},
            "spec": {"nodeName": "node-a"}});
        put(it, "pods", vec![pod]);
    };
    for (make, said) in [
        (elsewhere, "your kubeconfig leads to https://other.example"),
        (unknown, "EKS has no cluster tidepool"),
        (karpenter, "deployment karpenter/karpenter runs Karpenter"),
        (own_node, "pod karpenter/one runs on node node-a of pool default"),
    ] {
        let mut facts = installed();
        make(&mut facts);
        let why = refused(&[], &facts);
        assert!(why.len() == 1 && why[0].contains(said), "{said}: {why:?}");
        assert_eq!(refused(&["--force"], &facts), [""; 0], "{said}");
    }
    let mut facts = installed();
    facts.account.as_mut().unwrap().stack.as_mut().unwrap().status = "UPDATE_IN_PROGRESS".into();
    assert!(refused(&["--force"], &facts)[0].contains("is being changed: UPDATE_IN_PROGRESS"));
}

#[test]
fn pods_that_hold_nodes_up_are_named_beforehand() {
    let mut facts = installed();
    assert_eq!(notes(&facts), [""; 0]);
    let pod = json!({"metadata": {"name": "web", "namespace": "default",
            "annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        "spec": {"nodeName": "node-a"}, "status": {"phase": "Running"}});
    put(&mut facts, "pods", vec![pod]);
    assert!(notes(&facts)[0].ends_with("do-not-disrupt: default/web"), "{:?}", notes(&facts));
    assert!(left(&asked(&[]), &facts)[1].contains("kerf crds | kubectl delete"));
}
