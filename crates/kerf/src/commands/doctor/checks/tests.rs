//! A healthy installation, and every defect alone.

use std::collections::BTreeMap;

use kerf_aws::{AccessEntry, Association, ClusterAccess, QueueFacts, RoleFacts, RuleFacts, iam};
use serde_json::{Value, json};

use crate::commands::doctor::checks::CHECKS;
use crate::commands::doctor::facts::{Account, Facts, NodeRole, PodIdentity, Unread};
use crate::commands::doctor::finding::{Finding, Severity};

const NOW: i64 = 1_800_000_000;
const NODE_ROLE: &str = "arn:aws:iam::111122223333:role/KarpenterNodeRole-tidepool";
const ISSUER: &str = "oidc.eks.us-east-1.amazonaws.com/id/ABC";

fn deployment() -> Value {
    let container = json!({
        "command": ["kerf", "controller"],
        "env": [{"name": "CLUSTER_NAME", "value": "tidepool"}],
    });
    json!({
        "metadata": {"name": "karpenter", "namespace": "karpenter"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "karpenter"}},
            "template": {"spec": {"serviceAccountName": "karpenter", "containers": [container]}},
        },
        "status": {"readyReplicas": 2},
    })
}

fn node(name: &str, zone: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}}})
}

fn pod(name: &str, node: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "karpenter", "labels": {"app": "karpenter"}},
        "spec": {"nodeName": node},
    })
}

fn ready() -> Value {
    json!([{"type": "Ready", "status": "True"}])
}

fn lists() -> BTreeMap<&'static str, Result<Vec<Value>, Unread>> {
    let lease = json!({"metadata": {"name": "karpenter-leader-election"}, "spec": {
        "holderIdentity": "one", "leaseDurationSeconds": 15, "renewTime": "2027-01-15T07:59:50Z",
    }});
    let class = json!({"metadata": {"name": "default"}, "spec": {"role": "KarpenterNodeRole-tidepool"},
        "status": {"conditions": ready(), "subnets": [{"zone": "a"}, {"zone": "b"}]}});
    let spot = json!([{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}]);
    let pool = json!({"metadata": {"name": "default"},
        "spec": {"limits": {"cpu": "100"}, "template": {"spec": {
            "nodeClassRef": {"name": "default"}, "requirements": spot,
        }}},
        "status": {"conditions": ready(), "resources": {"cpu": "8"}}});
    let map = json!({"metadata": {"name": "aws-auth"}, "data": {"mapRoles": ""}});
    let own = kerf_api::crds();
    let definitions = own.iter().map(|one| serde_json::to_value(one).unwrap()).collect();
    BTreeMap::from([
        ("pods", Ok(vec![pod("one", "node-a"), pod("two", "node-b")])),
        ("nodes", Ok(vec![node("node-a", "a"), node("node-b", "b")])),
        ("deployments", Ok(vec![deployment()])),
        ("leases", Ok(vec![lease])),
        ("serviceaccounts", Ok(vec![json!({"metadata": {"name": "karpenter"}})])),
        ("customresourcedefinitions", Ok(definitions)),
        ("validatingwebhookconfigurations", Ok(vec![])),
        ("mutatingwebhookconfigurations", Ok(vec![])),
        ("nodepools", Ok(vec![pool])),
        ("nodeclaims", Ok(vec![])),
        ("ec2nodeclasses", Ok(vec![class])),
        ("provisioners", Err(Unread::Absent)),
        ("configmaps", Ok(vec![map])),
    ])
}

fn account() -> Account {
    let policies = [
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    ];
    let role = RoleFacts {
        arn: NODE_ROLE.to_owned(),
        trust: String::new(),
        policies: policies.map(str::to_owned).into(),
    };
    let trust = json!({"Statement": [{
        "Effect": "Allow",
        "Principal": {"Federated": format!("arn:aws:iam::111122223333:oidc-provider/{ISSUER}")},
        "Condition": {"StringEquals": {
            format!("{ISSUER}:sub"): "system:serviceaccount:karpenter:karpenter",
            format!("{ISSUER}:aud"): "sts.amazonaws.com",
        }},
    }]});
    let controller =
        RoleFacts { arn: String::new(), trust: trust.to_string(), policies: Vec::new() };
    let policy = json!({"Statement": [{
        "Effect": "Allow", "Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]},
        "Action": "sqs:SendMessage",
    }]});
    let queue = QueueFacts {
        arn: "arn:aws:sqs:us-east-1:1:tidepool".to_owned(),
        retention_seconds: 300,
        policy: policy.to_string(),
        is_encrypted: true,
    };
    let rule = |detail_type: &str| RuleFacts {
        name: detail_type.replace(' ', ""),
        pattern: json!({"detail-type": [detail_type]}).to_string(),
        is_enabled: true,
    };
    let allowed = json!({"Statement": [
        {"Effect": "Allow", "Action": ["ec2:*", "eks:DescribeCluster", "pricing:*", "ssm:GetParameter"]},
        {"Effect": "Allow", "Action": "iam:*InstanceProfile*"},
        {"Effect": "Allow", "Action": ["iam:PassRole", "sqs:*"]},
    ]});
    Account {
        cluster_name: "tidepool".to_owned(),
        cluster: Ok(Some(ClusterAccess {
            authentication_mode: "API_AND_CONFIG_MAP".to_owned(),
            issuer: format!("https://{ISSUER}"),
            ..ClusterAccess::default()
        })),
        node_roles: vec![NodeRole {
            name: "KarpenterNodeRole-tidepool".to_owned(),
            role: Ok(Some(role)),
            entry: Ok(Some(AccessEntry { kind: "EC2_LINUX".to_owned() })),
        }],
        has_spot_role: Ok(true),
        queue: Some(("tidepool".to_owned(), Ok(Some(queue)))),
        rules: Ok(vec![
            rule("EC2 Spot Instance Interruption Warning"),
            rule("EC2 Instance Rebalance Recommendation"),
            rule("EC2 Instance State-change Notification"),
            rule("AWS Health Event"),
            rule("EC2 Capacity Reservation Instance Interruption Warning"),
        ]),
        controller_role: Some(("arn:aws:iam::1:role/c".to_owned(), Ok(Some(controller)))),
        has_oidc_provider: Some(Ok(true)),
        pod_identity: None,
        controller_policies: Some(Ok(vec![allowed.to_string()])),
    }
}

fn healthy() -> Facts {
    Facts {
        now_seconds: NOW,
        namespace: "karpenter".to_owned(),
        version: Ok("v1.36.3".to_owned()),
        lists: lists(),
        account: Some(account()),
    }
}

fn found(facts: &Facts) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check.run(facts)).collect()
}

/// One object of a kind, to be changed.
fn object<'a>(facts: &'a mut Facts, kind: &str) -> &'a mut Value {
    &mut facts.lists.get_mut(kind).unwrap().as_mut().unwrap()[0]
}

fn queue(facts: &mut Facts) -> &mut QueueFacts {
    let queue = facts.account.as_mut().unwrap().queue.as_mut().unwrap();
    queue.1.as_mut().unwrap().as_mut().unwrap()
}

fn account_of(facts: &mut Facts) -> &mut Account {
    facts.account.as_mut().unwrap()
}

/// The role comes by Pod Identity, and the service account names none.
fn associate(facts: &mut Facts, identity: PodIdentity) {
    let account = account_of(facts);
    account.pod_identity = Some(Ok(identity));
    (account.controller_role, account.has_oidc_provider) = (None, None);
}

fn map_role(facts: &mut Facts, groups: &str) {
    facts.account.as_mut().unwrap().node_roles[0].entry = Ok(None);
    let text = format!(
        "- rolearn: {NODE_ROLE}\n  username: system:node:{{{{EC2PrivateDNSName}}}}\n  groups: {groups}\n"
    );
    object(facts, "configmaps")["data"]["mapRoles"] = json!(text);
}

fn trust(facts: &mut Facts, from: &str, to: &str) {
    let role = facts.account.as_mut().unwrap().controller_role.as_mut().unwrap();
    let role = role.1.as_mut().unwrap().as_mut().unwrap();
    role.trust = role.trust.replace(from, to);
}

#[test]
fn nothing_is_found_in_a_healthy_installation() {
    assert_eq!(found(&healthy()), []);
    let mut mapped = healthy();
    map_role(&mut mapped, "[system:bootstrappers, system:nodes]");
    assert_eq!(found(&mapped), [], "aws-auth will do, too");
}

type Defect = (&'static str, Severity, &'static str, fn(&mut Facts));

use Severity::{Failure, Warning};

/// The check that finds it, how bad it is, what its evidence says, and how to make it.
const DEFECTS: [Defect; 42] = [
    ("api-server", Warning, "v1.19.0", |it| it.version = Ok("v1.19.0".to_owned())),
    ("definitions", Failure, "ec2nodeclasses", |it| {
        it.lists.insert("ec2nodeclasses", Err(Unread::Absent));
    }),
    ("schemas", Warning, "of another version: ", |it| {
        object(it, "customresourcedefinitions")["spec"]["versions"][0]["schema"] = json!({});
    }),
    ("webhooks", Failure, "defaulting", |it| {
        let hook = json!({"metadata": {"name": "defaulting"},
            "webhooks": [{"name": "defaulting.webhook.karpenter.sh"}]});
        it.lists.insert("mutatingwebhookconfigurations", Ok(vec![hook]));
    }),
    ("webhooks", Failure, "converted by a webhook", |it| {
        let all = it.lists.get_mut("customresourcedefinitions").unwrap().as_mut().unwrap();
        let one = all.iter_mut().find(|one| one["spec"]["group"] == "karpenter.sh").unwrap();
        one["spec"]["conversion"] = json!({"strategy": "Webhook"});
    }),
    ("autoscaler", Warning, "kube-system/cluster-autoscaler", |it| {
        let other = json!({"metadata": {"name": "cluster-autoscaler", "namespace": "kube-system"}});
        it.lists.get_mut("deployments").unwrap().as_mut().unwrap().push(other);
    }),
    ("controller", Failure, "no deployment runs", |it| {
        it.lists.insert("deployments", Ok(vec![]));
    }),
    ("controller", Failure, "karpenter/karpenter and other/karpenter run at once", |it| {
        let mut other = deployment();
        other["metadata"]["namespace"] = json!("other");
        it.lists.get_mut("deployments").unwrap().as_mut().unwrap().push(other);
    }),
    ("replicas", Failure, "0 ready", |it| object(it, "deployments")["status"] = json!({})),
    ("replicas", Warning, "1 ready", |it| {
        object(it, "deployments")["status"]["readyReplicas"] = json!(1);
    }),
    ("placement", Failure, "pod karpenter/one runs on node node-a of pool default", |it| {
        object(it, "nodes")["metadata"]["labels"]["karpenter.sh/nodepool"] = json!("default");
    }),
    ("placement", Warning, "all 2 pods run in b", |it| {
        object(it, "nodes")["metadata"]["labels"]["topology.kubernetes.io/zone"] = json!("b");
    }),
    ("lease", Failure, "there is no lease", |it| {
        it.lists.insert("leases", Ok(vec![]));
    }),
    ("lease", Failure, "nobody holds", |it| {
        object(it, "leases")["spec"]["holderIdentity"] = json!("");
    }),
    ("lease", Failure, "has not renewed it for 110 s", |it| it.now_seconds += 100),
    ("service-account", Failure, "karpenter/karpenter, which is not there", |it| {
        it.lists.insert("serviceaccounts", Ok(vec![]));
    }),
    ("irsa", Failure, "which is not there", |it| {
        it.account.as_mut().unwrap().controller_role.as_mut().unwrap().1 = Ok(None);
    }),
    ("irsa", Failure, "audience sts.amazonaws.com", |it| trust(it, "sts.amazonaws", "sts.example")),
    ("irsa", Failure, "subject system:serviceaccount:karpenter:karpenter", |it| {
        trust(it, "karpenter:karpenter", "default:karpenter");
    }),
    ("irsa", Failure, "issuer oidc.eks", |it| trust(it, "/id/ABC\"", "/id/XYZ\"")),
    ("oidc-provider", Failure, "no OIDC provider for https://oidc.eks", |it| {
        account_of(it).has_oidc_provider = Some(Ok(false));
    }),
    ("pod-identity", Failure, "no Pod Identity association", |it| {
        associate(it, PodIdentity::default());
    }),
    ("pod-identity", Failure, "eks-pod-identity-agent is not installed", |it| {
        let association = Some(Association { id: "a".to_owned(), role_arn: "b".to_owned() });
        associate(it, PodIdentity { association, agent: None });
    }),
    ("permissions", Failure, "allows iam:PassRole", |it| {
        let policies = account_of(it).controller_policies.as_mut().unwrap().as_mut().unwrap();
        policies[0] = policies[0].replace("iam:PassRole", "iam:GetRole");
    }),
    ("rules", Failure, "waits for \"EC2 Spot Instance Interruption Warnings\"", |it| {
        let rules = account_of(it).rules.as_mut().unwrap();
        rules[0].pattern = rules[0].pattern.replace("Warning", "Warnings");
    }),
    ("rules", Failure, "AWSHealthEvent is disabled", |it| {
        account_of(it).rules.as_mut().unwrap()[3].is_enabled = false;
    }),
    ("rules", Failure, "no rule sends \"EC2 Spot", |it| {
        account_of(it).rules.as_mut().unwrap().remove(0);
    }),
    ("rules", Warning, "no rule sends \"AWS Health Event\"", |it| {
        account_of(it).rules.as_mut().unwrap().remove(3);
    }),
    ("eks-cluster", Failure, "no cluster tidepool", |it| {
        it.account.as_mut().unwrap().cluster = Ok(None);
    }),
    ("node-role", Failure, "there is no role KarpenterNodeRole-tidepool", |it| {
        it.account.as_mut().unwrap().node_roles[0].role = Ok(None);
    }),
    ("node-role", Failure, "lacks AmazonEKS_CNI_Policy", |it| {
        let role = it.account.as_mut().unwrap().node_roles[0].role.as_mut().unwrap();
        role.as_mut().unwrap().policies.remove(1);
    }),
    ("node-access", Failure, "without system:bootstrappers", |it| {
        map_role(it, "[system:bootstrapper, system:nodes]");
    }),
    ("node-access", Failure, "neither an access entry nor aws-auth", |it| {
        it.account.as_mut().unwrap().node_roles[0].entry = Ok(None);
    }),
    ("node-access", Failure, "of type STANDARD", |it| {
        let entry = AccessEntry { kind: "STANDARD".to_owned() };
        it.account.as_mut().unwrap().node_roles[0].entry = Ok(Some(entry));
    }),
    ("spot-role", Failure, "AWSServiceRoleForEC2Spot", |it| {
        it.account.as_mut().unwrap().has_spot_role = Ok(false);
    }),
    ("queue", Failure, "there is no queue tidepool", |it| {
        it.account.as_mut().unwrap().queue.as_mut().unwrap().1 = Ok(None);
    }),
    ("queue", Warning, "reads no queue", |it| it.account.as_mut().unwrap().queue = None),
    ("queue", Warning, "for 30 s only", |it| queue(it).retention_seconds = 30),
    ("queue-policy", Failure, "neither EventBridge nor a router", |it| {
        queue(it).policy = String::new();
    }),
    ("node-classes", Failure, "SubnetsReady: no subnet", |it| {
        object(it, "ec2nodeclasses")["status"]["conditions"] =
            json!([{"type": "SubnetsReady", "status": "False", "message": "no subnet"}]);
        object(it, "nodepools")["status"]["conditions"] = json!([]);
    }),
    ("limits", Warning, "uses \"100\" of cpu", |it| {
        object(it, "nodepools")["status"]["resources"]["cpu"] = json!("100");
    }),
    ("pending-pods", Warning, "1 of default/inflate: no node", |it| {
        let pod = json!({
            "metadata": {"name": "p", "namespace": "default", "ownerReferences": [{"name": "inflate"}]},
            "spec": {},
            "status": {"conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"},
            ]},
        });
        it.lists.get_mut("pods").unwrap().as_mut().unwrap().push(pod);
    }),
];

#[test]
fn every_defect_is_found_alone_by_its_check_with_its_evidence() {
    for (id, severity, evidence, make) in DEFECTS {
        let mut facts = healthy();
        make(&mut facts);
        let found = found(&facts);
        let [one] = found.as_slice() else { panic!("{id}, {evidence}: {found:#?}") };
        assert_eq!((one.id, one.severity), (id, severity), "{one:?}");
        assert!(one.evidence.contains(evidence), "{evidence}: {one:?}");
        assert!(!one.fix.is_empty(), "{one:?}");
    }
    let checks = CHECKS.iter().map(|check| check.id);
    let without: Vec<&str> = checks.filter(|id| !DEFECTS.iter().any(|(of, ..)| of == id)).collect();
    assert_eq!(without, ["pools"], "tested below");
}

#[test]
fn the_policies_that_kerf_writes_allow_every_call() {
    let mut facts = healthy();
    let names = iam::Names {
        partition: "aws",
        region: "us-east-1",
        account: "1",
        cluster: "tidepool",
        node_role: "role",
        queue: "tidepool",
    };
    let own = iam::Policy::ALL.iter().map(|one| iam::document(*one, &names).to_string()).collect();
    account_of(&mut facts).controller_policies = Some(Ok(own));
    assert_eq!(found(&facts), []);
}

#[test]
fn pools_that_are_missing_or_legacy_are_named() {
    let mut none = healthy();
    none.lists.insert("nodepools", Ok(vec![]));
    assert!(found(&none)[0].evidence.contains("there is no NodePool"));
    let mut legacy = healthy();
    legacy.lists.insert("provisioners", Ok(vec![json!({"metadata": {"name": "old"}})]));
    assert!(found(&legacy)[0].fix.contains("kerf convert"));
    let mut blocked = healthy();
    object(&mut blocked, "nodepools")["spec"]["disruption"]["budgets"] = json!([{"nodes": "0"}]);
    assert!(found(&blocked)[0].evidence.contains("forbids all disruption"));
}

#[test]
fn what_aws_does_not_tell_is_a_warning_and_no_failure() {
    let mut facts = healthy();
    let denied = "not allowed to call iam:GetRole".to_owned();
    facts.account.as_mut().unwrap().has_spot_role = Err(denied.clone());
    facts.account.as_mut().unwrap().cluster = Err(denied);
    let found = found(&facts);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|one| one.severity == Severity::Warning), "{found:?}");
}
