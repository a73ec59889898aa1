//! `--interruption-queue`: from what EC2 announces to the end of the claim.

use std::time::{Duration, Instant};

use kerf_testbed::{ControlPlane, Fault, FaultProxy, FaultRule, Options, Program};
use serde_json::{Value, json};

use crate::aws::{Account, CLUSTER};
use crate::node_pool_mode::{announcement, zones};
use crate::objects::{TYPES, ZONES, apply, class, pool};
use crate::process::{Running, cluster, kerf, kerf_alone, wait};

/// From the central queue to the claim, polling aside.
const WITHIN: Duration = Duration::from_secs(3);

/// A cluster with its queue, and a controller that reads it.
struct Home {
    name: &'static str,
    control_plane: ControlPlane,
    queue_url: String,
}

impl Home {
    fn new(account: &Account, name: &'static str) -> Self {
        let control_plane = cluster(Options::api_server());
        let mut pool = pool("web", &ZONES);
        // Nodes of these tests are empty, and go for no other reason than a notice.
        pool["spec"]["disruption"] = json!({"consolidateAfter": "Never"});
        apply(&control_plane, &[class(), pool]);
        Self { name, control_plane, queue_url: account.cluster_queue(name) }
    }

    /// A claim with a node on an instance.
    fn node_on(&self, instance: &str) {
        let id = format!("aws:///{}/{instance}", ZONES[0]);
        apply(&self.control_plane, &[claim(instance), node(instance, &id)]);
        let capacity = json!({"cpu": "4", "memory": "16Gi", "pods": "110"});
        let status = json!({"providerID": id, "capacity": capacity, "allocatable": capacity});
        self.write_status("nodeclaim", instance, &status);
        let ready = json!([{"type": "Ready", "status": "True", "reason": "Up", "message": "",
            "lastHeartbeatTime": null, "lastTransitionTime": null}]);
        let status = json!({"capacity": capacity, "allocatable": capacity, "conditions": ready});
        self.write_status("node", instance, &status);
    }

    fn write_status(&self, kind: &str, name: &str, status: &Value) {
        let patch = format!("--patch={}", json!({"status": status}));
        let arguments = ["patch", kind, name, "--subresource=status", "--type=merge", &patch];
        self.control_plane.kubectl(&arguments).unwrap();
    }

    fn controller(&self, account: &Account) -> Running {
        let mut command = kerf(&self.control_plane, account);
        command.args(["controller", "--cloud=kwok", "--interruption-queue", self.name]);
        command.args(["--leader-election-namespace=karpenter"]);
        command.args(["--instance-types-file-path", TYPES]);
        Running::start(command)
    }

    fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        wait(&self.control_plane, &format!("{} in {}", what, self.name), condition);
    }

    /// Whether the controller has taken a claim and its node for its own.
    fn has_joined(&self, instance: &str) -> bool {
        let path = r#"--output=jsonpath={.status.conditions[?(@.type=="Registered")].status}"#;
        self.get("nodeclaim", instance, path) == "True"
    }

    /// Whether a claim is there and nobody asked for its deletion.
    fn has(&self, instance: &str) -> bool {
        let path = "--output=jsonpath={.metadata.name}{.metadata.deletionTimestamp}";
        self.get("nodeclaim", instance, path) == instance
    }

    fn is_gone(&self, instance: &str) -> bool {
        let left = ["nodeclaim", "node"].map(|kind| self.get(kind, instance, "--output=name"));
        left.iter().all(String::is_empty)
    }

    fn get(&self, kind: &str, name: &str, output: &str) -> String {
        let arguments = ["get", kind, name, "--ignore-not-found", output];
        self.control_plane.kubectl(&arguments).unwrap()
    }

    /// The kinds of objects of that name with an Event of a reason.
    fn told(&self, reason: &str, name: &str) -> Vec<String> {
        let fields = format!("--field-selector=reason={reason},involvedObject.name={name}");
        let path = "--output=jsonpath={.items[*].involvedObject.kind}";
        let seen = self.control_plane.kubectl(&["get", "events", &fields, path]).unwrap();
        let mut kinds: Vec<String> = seen.split_whitespace().map(str::to_owned).collect();
        kinds.sort();
        kinds
    }
}

fn claim(name: &str) -> Value {
    let class = json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "web",
            "karpenter.sh/capacity-type": "spot"}, "finalizers": ["karpenter.sh/termination"]},
        "spec": {"nodeClassRef": class, "requirements": []},
    })
}

fn node(name: &str, provider_id: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "spec": {"providerID": provider_id,
            "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
    })
}

fn event(detail_type: &str, instance: &str) -> Value {
    let time = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap();
    json!({
        "version": "0", "id": format!("of-{instance}"), "detail-type": detail_type,
        "source": "aws.ec2", "account": "123456789012", "time": time.to_string(),
        "region": "us-east-1", "resources": [],
        "detail": {"instance-id": instance, "instance-action": "terminate"},
    })
}

fn spot(instance: &str) -> Value {
    event("EC2 Spot Instance Interruption Warning", instance)
}

#[test]
fn check_13_a_notice_on_the_central_queue_ends_the_claim_in_its_cluster_alone() {
    let account = Account::open();
    let central = account.queue("central");
    let (a, b) = (Home::new(&account, "a"), Home::new(&account, "b"));
    let of_a: Vec<String> = (0..3).map(|_| account.instance("a")).collect();
    let of_b = account.instance("b");
    of_a.iter().for_each(|instance| a.node_on(instance));
    b.node_on(&of_b);
    let controllers = [a.controller(&account), b.controller(&account)];
    for instance in &of_a {
        a.wait("a node that has joined", || a.has_joined(instance));
    }
    b.wait("a node that has joined", || b.has_joined(&of_b));
    let mut router = kerf_alone(&account);
    router.args(["router", "run", "--queue-url", &central]);
    let router = Program::start(router, &["--metrics-port"]).unwrap();

    // The first notice is also the first call of everything.
    let mut waits = Vec::new();
    for instance in &of_a {
        let started = Instant::now();
        account.send(&central, &spot(instance));
        a.wait("the claim goes", || !a.has(instance));
        waits.push(started.elapsed());
    }
    println!("from the central queue to the claim: {waits:?}");
    assert!(waits.iter().any(|wait| *wait < WITHIN), "{waits:?}");
    for instance in &of_a {
        a.wait("claim and node are gone", || a.is_gone(instance));
        for reason in ["SpotInterrupted", "TerminatingOnInterruption"] {
            a.wait(reason, || a.told(reason, instance) == ["Node", "NodeClaim"]);
        }
    }
    a.wait("the queue is empty", || account.depth(&a.queue_url) == 0);
    assert_eq!((account.depth(&central), account.depth(&b.queue_url)), (0, 0));
    assert!(b.has(&of_b) && b.has_joined(&of_b), "the other cluster is as before");
    for line in [
        r#"karpenter_interruption_received_messages_total{message_type="spot_interrupted"} 3"#,
        "karpenter_interruption_deleted_messages_total 3",
        "karpenter_interruption_message_queue_duration_seconds_count 3",
        r#"kerf_interruption_messages_total{message_type="spot_interrupted",outcome="claims_deleted"} 3"#,
        r#"karpenter_nodeclaims_disrupted_total{reason="spot_interrupted",nodepool="web",capacity_type="spot",consolidation_policy="",termination_mode="graceful"} 3"#,
    ] {
        assert!(controllers[0].counts(line), "{line}\n{}", controllers[0].metrics());
    }
    assert!(!controllers[1].metrics().contains("karpenter_interruption_received"));
    assert!(controllers.into_iter().all(Running::end));
    assert!(router.end().unwrap().0);
}

#[test]
fn a_queue_that_is_forbidden_or_full_of_nonsense_is_told_of_once_and_the_rest_keeps_working() {
    let mut account = Account::open();
    let home = Home::new(&account, "late");
    let (mine, risky) = (account.instance("late"), account.instance("late"));
    home.node_on(&mine);
    home.node_on(&risky);
    let proxy = FaultProxy::start(account.aws.endpoint_url()).unwrap();
    let denied = |action: &str| FaultRule {
        contains: action.to_owned(),
        every: 1,
        at_most: u64::MAX,
        fault: Fault::Deny,
    };
    proxy.set_rules(vec![denied("AmazonSQS.ReceiveMessage")]);
    account.through("AWS_ENDPOINT_URL_SQS", proxy.endpoint_url());
    let controller = home.controller(&account);
    let words = "not allowed to call sqs:ReceiveMessage on ";
    home.wait("the log names the permission", || controller.says(words) == 1);
    home.wait("it works on", || {
        controller.is_ready() && home.has_joined(&mine) && home.has_joined(&risky)
    });

    for body in ["{", "\u{1f980}", &"[".repeat(10_000), "[]", "{}"] {
        account.send_text(&home.queue_url, body);
    }
    account.send(&home.queue_url, &spot("i-00000000"));
    account.send(&home.queue_url, &event("EC2 Instance Rebalance Recommendation", &risky));
    account.send(&home.queue_url, &spot(&mine));
    proxy.set_rules(vec![]);
    home.wait("the claim goes", || !home.has(&mine));
    home.wait("the queue is empty", || account.depth(&home.queue_url) == 0);
    let told = || home.told("SpotRebalanceRecommendation", &risky);
    home.wait("people are told", || told() == ["Node", "NodeClaim"]);
    assert!(home.has(&risky), "a recommendation is no order");
    assert_eq!(controller.says(words), 1, "said once");
    let count = |message_type: &str, outcome: &str, count: u32| {
        format!(
            "kerf_interruption_messages_total{{message_type=\"{message_type}\",\
             outcome=\"{outcome}\"}} {count}"
        )
    };
    for line in [
        count("unreadable", "unreadable", 4),
        count("no_op", "ignored", 1),
        count("spot_interrupted", "no_claim", 1),
        count("spot_interrupted", "claims_deleted", 1),
        count("rebalance_recommendation", "told", 1),
        r#"karpenter_interruption_received_messages_total{message_type="no_op"} 1"#.to_owned(),
        "karpenter_interruption_deleted_messages_total 8".to_owned(),
    ] {
        home.wait(&line, || controller.counts(&line));
    }
    assert!(controller.end());
}

#[test]
fn the_same_queue_may_announce_zonal_shifts_too() {
    let account = Account::open();
    let home = Home::new(&account, "both");
    let instance = account.instance("both");
    home.node_on(&instance);
    let mut command = kerf(&home.control_plane, &account);
    command.args(["controller", "--cloud=kwok", "--interruption-queue=both"]);
    command.args(["--enable-zonal-autoshift", "--leader-election-namespace=karpenter"]);
    let controller = Running::start({
        command.env("CLUSTER_NAME", CLUSTER);
        command
    });
    home.wait("a node that has joined", || home.has_joined(&instance));
    home.wait("zones are heeded", || controller.counts("kerf_zonal_shift_leading 1"));
    account.send(&home.queue_url, &announcement(1, "Practice Run Started"));
    account.send(&home.queue_url, &spot(&instance));
    home.wait("the claim goes", || !home.has(&instance));
    let left = r#"["us-east-1b","us-east-1c"]"#;
    home.wait("the pool is kept out", || zones(&home.control_plane) == left);
    home.wait("the queue is empty", || account.depth(&home.queue_url) == 0);
    let line =
        r#"kerf_interruption_messages_total{message_type="zonal_shift",outcome="handed_on"}"#;
    assert!(controller.metrics().contains(line), "{}", controller.metrics());
    assert!(controller.end());
}

#[test]
fn a_queue_that_is_not_there_yet_is_found_when_it_is() {
    let account = Account::open();
    let control_plane = cluster(Options::api_server());
    let mut command = kerf(&control_plane, &account);
    command.args(["controller", "--cloud=kwok", "--leader-election-namespace=karpenter"]);
    let controller = Running::start({
        command.env("INTERRUPTION_QUEUE", "to-come");
        command
    });
    let missing = "sqs:GetQueueUrl: there is no queue to-come in this account and region";
    wait(&control_plane, "the log names the queue", || controller.says(missing) == 1);
    wait(&control_plane, "it works on", || controller.is_ready());
    let url = account.queue("to-come");
    account.send(&url, &spot("i-00000000"));
    wait(&control_plane, "its messages are read", || account.depth(&url) == 0);
    assert_eq!(controller.says(missing), 1, "said once");
    assert!(controller.end());
}
