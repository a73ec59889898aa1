//! A cluster in an AWS account, with a controller.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kerf_aws::AwsAction;
use kerf_testbed::{AwsStandIn, ControlPlane, Kubelets, Options, Program, QuickStart, User};
use serde_json::{Value, json};

use crate::journal::Journal;

/// The user that `deploy/rbac.yaml` speaks of.
const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
pub(crate) const CLUSTER: &str = "tidepool";
/// Some ten seconds when nothing else runs.
const SOON: Duration = Duration::from_secs(240);
const LOOK_EVERY: Duration = Duration::from_millis(250);
const PROBES: &str = "--health-probe-port";
const METRICS: &str = "--metrics-port";

/// A control plane with three programs is enough for one machine at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Calls of the controller that are not the provider's: the queue's. A batch needs no permission of its
/// own.
const QUEUE_CALLS: [&str; 3] = ["sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:DeleteMessageBatch"];

/// A cluster in an account, and the controller.
pub(crate) struct Place {
    controller: Option<Program>,
    _journal: Journal,
    kubelets: Kubelets,
    pub(crate) control_plane: ControlPlane,
    pub(crate) aws: AwsStandIn,
    pub(crate) made: QuickStart,
    _turn: MutexGuard<'static, ()>,
}

impl Place {
    pub(crate) fn open() -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let user = User::new(ACCOUNT)
            .in_group("system:serviceaccounts")
            .in_group("system:serviceaccounts:karpenter");
        let control_plane = ControlPlane::start(Options::simulated_cluster().user(user)).unwrap();
        let files = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-aws.yaml"];
        control_plane.apply_files(&files).unwrap();
        let aws = AwsStandIn::start().unwrap();
        let made = aws.quick_start(CLUSTER);
        aws.forget_calls();
        let kubelets = Kubelets::start(&control_plane, &aws, Duration::from_millis(500)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(aws.environment());
        command.env("KUBECONFIG", control_plane.kubeconfig_of(ACCOUNT).unwrap());
        // No --cloud: who comes from Karpenter has no such flag.
        command.args(["controller", "--leader-election-namespace=karpenter"]);
        command.args(["--cluster-name", CLUSTER, "--interruption-queue", CLUSTER]);
        let journal = Journal::of(&mut command);
        let controller = Some(Program::start(command, &[PROBES, METRICS]).unwrap());
        Self { controller, _journal: journal, kubelets, control_plane, aws, made, _turn: turn }
    }

    /// Waits for something; fails with what a person would look at.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + SOON;
        while !condition() {
            if Instant::now() > deadline {
                let kinds = "pods,nodes,nodeclaims,nodepools,ec2nodeclasses,events";
                let seen = self.control_plane.kubectl(&["get", kinds, "-A", "--output=wide"]);
                let classes =
                    self.control_plane.kubectl(&["get", "ec2nodeclasses", "--output=yaml"]);
                let log = self.controller.as_ref().map(Program::written).unwrap_or_default();
                let log: Vec<&str> = log.lines().rev().take(60).collect();
                panic!(
                    "not within {SOON:?}: {what}\n{}\n{}\n{} joined\n{}",
                    seen.unwrap_or_default(),
                    classes.unwrap_or_default(),
                    self.kubelets.joined(),
                    log.into_iter().rev().collect::<Vec<_>>().join("\n"),
                );
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    pub(crate) fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.control_plane.apply(&list.to_string()).unwrap();
    }

    /// All objects of a kind in the default namespace.
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        let list = self.control_plane.kubectl(&["get", kind, "--output=json"]).unwrap();
        let list: Value = serde_json::from_str(&list).unwrap();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// How many pods run on nodes that are there.
    pub(crate) fn running(&self) -> usize {
        let running = |pod: &&Value| pod["status"]["phase"] == "Running";
        self.all("pods").iter().filter(running).count()
    }

    /// The values of a label on all nodes.
    pub(crate) fn node_labels(&self, key: &str) -> BTreeSet<String> {
        let label = |node: &Value| node["metadata"]["labels"][key].as_str().map(str::to_owned);
        self.all("nodes").iter().filter_map(label).collect()
    }

    /// The instances of the account that have not ended, as EC2 describes them.
    pub(crate) fn instances(&self) -> usize {
        let filter = "Filter.1.Name=instance-state-name&Filter.1.Value.1=pending\
            &Filter.1.Value.2=running&Filter.1.Value.3=shutting-down";
        let request = format!("Action=DescribeInstances&Version=2016-11-15&{filter}");
        self.aws.ec2(&request).matches("<instanceId>").count()
    }

    /// A page of the controller's metrics.
    pub(crate) fn metrics(&self) -> String {
        let program = self.controller.as_ref().unwrap();
        program.get(METRICS, "/metrics").unwrap_or_default()
    }

    /// Ends the controller, and checks that it only ever made calls it says it makes.
    pub(crate) fn close(mut self) {
        let (is_well, log) = self.controller.take().unwrap().end().unwrap();
        assert!(is_well, "{log}");
        let known = AwsAction::ALL.iter().map(|action| action.permission());
        let known: BTreeSet<&str> = known.chain(QUEUE_CALLS).collect();
        let calls: BTreeSet<String> =
            self.aws.calls().iter().map(kerf_testbed::AwsCall::permission).collect();
        // What tests and kubelets ask is asked of EC2's descriptions, which are on the list.
        let strange: Vec<&String> =
            calls.iter().filter(|call| !known.contains(call.as_str())).collect();
        assert_eq!(strange, [""; 0], "calls that no policy allows");
    }
}
